import { created } from "../case.ts";
import type { Case } from "../case.ts";
import { create, missing, shown, view } from "../tools.ts";
import { traps } from "../traps.ts";

const start = (path: string): string => `✗ Path must start with /memories, got: ${path}`;
const escape = (path: string): string => `✗ Path ${path} would escape /memories directory`;
const success = (path: string): string => `File created successfully at: ${path}`;
const unusable = (path: string, allowed: string): string => `✗ Cannot use the path "${path}": allowed: ${allowed}`;
const parts = 'a key without empty parts, "." and ".." between slashes';

export const pathCases: readonly Case[] = [
  {
    title: "paths outside the root",
    steps: [
      [create("/other/a.txt", "1"), start("/other/a.txt")],
      [create("memories/a.txt", "1"), start("memories/a.txt")],
      [view(""), start("")],
      [create("/memories/../a.txt", "1"), escape("/memories/../a.txt")],
      [view("/memories/../../../etc/passwd"), escape("/memories/../../../etc/passwd")],
      [view("/memories/a/../../../etc/passwd"), escape("/memories/a/../../../etc/passwd")],
      [create("/memories/../memories_backup/a", "1"), escape("/memories/../memories_backup/a")],
    ],
    after: {},
  },
  {
    title: "a name that begins like the root",
    steps: [
      [
        create("/memories_backup/a", "1"),
        start("/memories_backup/a"),
        { trap: traps.rootPrefix, answer: success("/memories_backup/a") },
      ],
      [create("/memoriesb", "1"), start("/memoriesb"), { trap: traps.rootPrefix, answer: success("/memoriesb") }],
    ],
    after: {},
    localAfter: { "_backup/a": "1", b: "1" },
  },
  {
    title: "parts that are no names",
    steps: [
      created("/memories/a.txt", "1"),
      [
        view("/memories/x/../a.txt"),
        '✗ Path /memories/x/../a.txt has a part "..", allowed: paths without it',
        { trap: traps.parts, answer: shown("/memories/x/../a.txt", "     1\t1") },
      ],
      [
        view("/memories/./a.txt"),
        unusable("/memories/./a.txt", parts),
        { trap: traps.parts, answer: shown("/memories/./a.txt", "     1\t1") },
      ],
      [
        view("/memories//a.txt"),
        unusable("/memories//a.txt", parts),
        { trap: traps.parts, answer: shown("/memories//a.txt", "     1\t1") },
      ],
    ],
    after: { "a.txt": "1" },
  },
  {
    title: "climbing in other spellings",
    steps: [
      [
        create("/memories/%2e%2e%2fa", "1"),
        escape("/memories/%2e%2e%2fa"),
        { trap: traps.encoded, answer: success("/memories/%2e%2e%2fa") },
      ],
      [
        create("/memories/..\\a", "1"),
        escape("/memories/..\\a"),
        { trap: traps.encoded, answer: success("/memories/..\\a") },
      ],
      [
        create("/memories/b%2F%2E.%5c..\\c", "1"),
        escape("/memories/b%2F%2E.%5c..\\c"),
        { trap: traps.encoded, answer: success("/memories/b%2F%2E.%5c..\\c") },
      ],
    ],
    after: {},
    localAfter: { "%2e%2e%2fa": "1", "..\\a": "1", "b%2F%2E.%5c..\\c": "1" },
  },
  {
    title: "names with odd characters",
    steps: [
      created("/memories/100%.txt", "1"),
      created("/memories/a b:c*?\"<>|'.md", "2"),
      created("/memories/..a/b..", "3"),
      created("/memories/日本/é😀", "4"),
      created("/memories/con", "5"),
      created("/memories/trash/x", "6"),
      created("/memories/__proto__", "7"),
      created("/memories/constructor/toString", "8"),
      [view("/memories/A b:c*?\"<>|'.md"), missing("/memories/A b:c*?\"<>|'.md")],
    ],
    after: {
      "..a/b..": "3",
      "100%.txt": "1",
      ["__proto__"]: "7",
      "a b:c*?\"<>|'.md": "2",
      con: "5",
      "constructor/toString": "8",
      "trash/x": "6",
      "日本/é😀": "4",
    },
  },
  {
    title: "the paths of other stores",
    steps: [
      [
        create("/memories/shared/a", "1"),
        '✗ Cannot use the key "shared/a": "shared/" stands for other stores',
        { trap: traps.reserved, answer: success("/memories/shared/a") },
      ],
      [
        view("/memories/shared"),
        '✗ Cannot use the key "shared": "shared/" stands for other stores',
        {
          trap: traps.reserved,
          answer:
            "Here're the files and directories up to 2 levels deep in /memories/shared, excluding hidden items and node_modules:\n4K\t/memories/shared\n1B\t/memories/shared/a",
        },
      ],
      created("/memories/shared.txt", "2"),
    ],
    after: { "shared.txt": "2" },
    localAfter: { "shared.txt": "2", "shared/a": "1" },
  },
  {
    title: "long names and texts",
    steps: [
      created(`/memories/${"k/".repeat(99)}kk`, "1"),
      [
        create(`/memories/${"k".repeat(201)}`, "1"),
        unusable(`/memories/${"k".repeat(50)}…`, "a key of 1 to 200 characters"),
        { trap: traps.longName, answer: success(`/memories/${"k".repeat(201)}`) },
      ],
      [
        create("/memories/large", "é".repeat(51_201)),
        "✗ Value too large",
        { trap: traps.longName, answer: success("/memories/large") },
      ],
    ],
    after: { [`${"k/".repeat(99)}kk`]: "1" },
    localAfter: {
      [`${"k/".repeat(99)}kk`]: "1",
      ["k".repeat(201)]: "1",
      large: "é".repeat(51_201),
    },
  },
];
