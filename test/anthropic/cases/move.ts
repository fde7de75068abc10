import { created } from "../case.ts";
import type { Case } from "../case.ts";
import { create, listed, missing, remove, rename, view } from "../tools.ts";
import { traps } from "../traps.ts";

const deleted = (path: string): string => `Successfully deleted ${path}`;
const renamed = (from: string, to: string): string => `Successfully renamed ${from} to ${to}`;
const gone = (path: string): string => `✗ The path ${path} does not exist`;
const taken = (path: string): string => `✗ The destination ${path} already exists`;

export const moveCases: readonly Case[] = [
  {
    title: "delete a file, a directory, and what is missing",
    steps: [
      created("/memories/a.txt", "1"),
      created("/memories/p/b.txt", "2"),
      created("/memories/p/q/c.txt", "3"),
      created("/memories/pq.txt", "4"),
      [remove("/memories/a.txt"), deleted("/memories/a.txt")],
      [remove("/memories/a.txt"), gone("/memories/a.txt")],
      [view("/memories/a.txt"), missing("/memories/a.txt")],
      [remove("/memories/p"), deleted("/memories/p")],
      [remove("/memories/p/q"), gone("/memories/p/q")],
      created("/memories/r/d.txt", "5"),
      [remove("/memories/r/"), deleted("/memories/r/")],
    ],
    after: { "pq.txt": "4" },
  },
  {
    title: "the root stays",
    steps: [
      created("/memories/a.txt", "1"),
      [remove("/memories"), "✗ Cannot delete the /memories directory itself"],
      [remove("/memories/"), "✗ Cannot delete the /memories directory itself"],
      [rename("/memories", "/memories/x"), "✗ Cannot rename the /memories directory itself"],
      [rename("/memories/", "/memories/x"), "✗ Cannot rename the /memories directory itself"],
      [rename("/memories/a.txt", "/memories"), taken("/memories")],
    ],
    after: { "a.txt": "1" },
  },
  {
    title: "rename a file and a directory",
    steps: [
      created("/memories/a.txt", "1"),
      created("/memories/p/b.txt", "2"),
      created("/memories/p/q/c.txt", "3"),
      created("/memories/pq.txt", "4"),
      [rename("/memories/a.txt", "/memories/n/m/a.txt"), renamed("/memories/a.txt", "/memories/n/m/a.txt")],
      [rename("/memories/p", "/memories/n/p"), renamed("/memories/p", "/memories/n/p")],
      [rename("/memories/none", "/memories/x"), gone("/memories/none")],
      [rename("/memories/p", "/memories/x"), gone("/memories/p")],
    ],
    after: { "n/m/a.txt": "1", "n/p/b.txt": "2", "n/p/q/c.txt": "3", "pq.txt": "4" },
  },
  {
    title: "rename does not overwrite",
    steps: [
      created("/memories/a.txt", "1"),
      created("/memories/b.txt", "2"),
      created("/memories/p/c.txt", "3"),
      [rename("/memories/a.txt", "/memories/b.txt"), taken("/memories/b.txt")],
      [rename("/memories/a.txt", "/memories/a.txt"), taken("/memories/a.txt")],
      [rename("/memories/a.txt", "/memories/p"), taken("/memories/p")],
      [rename("/memories/p", "/memories/b.txt"), taken("/memories/b.txt")],
      [rename("/memories/p", "/memories/p"), taken("/memories/p")],
      [rename("/memories/none", "/memories/b.txt"), taken("/memories/b.txt")],
    ],
    after: { "a.txt": "1", "b.txt": "2", "p/c.txt": "3" },
  },
  {
    title: "no error shows a path of the host",
    steps: [
      created("/memories/a.txt", "1"),
      created("/memories/p/b.txt", "2"),
      [
        create("/memories/a.txt/b", "x"),
        "✗ Cannot use /memories/a.txt/b: /memories/a.txt is a file, not a directory",
        { trap: traps.hostPaths, answer: "✗ ENOTDIR: not a directory, realpath 'FOLDER/memories/a.txt/b'" },
      ],
      [
        rename("/memories/p", "/memories/a.txt/p"),
        "✗ Cannot use /memories/a.txt/p: /memories/a.txt is a file, not a directory",
        { trap: traps.hostPaths, answer: "✗ ENOTDIR: not a directory, realpath 'FOLDER/memories/a.txt/p'" },
      ],
      [
        rename("/memories/p", "/memories/p/q"),
        "✗ Cannot rename /memories/p to /memories/p/q: a directory cannot be in itself",
        {
          trap: traps.hostPaths,
          answer: "✗ EINVAL: invalid argument, rename 'FOLDER/memories/p' -> 'FOLDER/memories/p/q'",
        },
      ],
      [
        view("/memories/\0"),
        String.raw`✗ Cannot use the path "/memories/\u0000": allowed: a key without control characters and line separators`,
        {
          trap: traps.hostPaths,
          answer: String.raw`✗ The argument 'path' must be a string, Uint8Array, or URL without null bytes. Received 'FOLDER/memories/\x00'`,
        },
      ],
    ],
    after: { "a.txt": "1", "p/b.txt": "2" },
  },
  {
    title: "the same for a path inside a directory",
    steps: [
      created("/memories/p/q/r/a.txt", "1"),
      [rename("/memories/p/q", "/memories/q"), renamed("/memories/p/q", "/memories/q")],
      created("/memories/p/b.txt", "2"),
      [
        view("/memories"),
        listed(
          "/memories",
          "2B\t/memories",
          "1B\t/memories/p/",
          "1B\t/memories/p/b.txt",
          "1B\t/memories/q/",
          "1B\t/memories/q/r/",
        ),
      ],
    ],
    after: { "p/b.txt": "2", "q/r/a.txt": "1" },
  },
];
