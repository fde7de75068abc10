import { created } from "../case.ts";
import type { Case } from "../case.ts";
import { insert, listed, missing, remove, shown, view } from "../tools.ts";
import { traps } from "../traps.ts";

const three = "/memories/three.txt";
const noRange = (range: string): string =>
  `✗ Invalid \`view_range\` parameter: ${range}. It should be within the range of lines of the file: [1, 3]`;

export const viewCases: readonly Case[] = [
  {
    title: "an empty memory is no error",
    steps: [
      [view("/memories"), listed("/memories", "0B\t/memories")],
      [view("/memories/"), listed("/memories/", "0B\t/memories/")],
      [view("/memories/none"), missing("/memories/none")],
    ],
    after: {},
  },
  {
    title: "a file with numbered lines, and ranges of them",
    steps: [
      created(three, "one\ntwo\nthree"),
      [view(three), shown(three, "     1\tone", "     2\ttwo", "     3\tthree")],
      [view(three, 2, 3), shown(three, "     2\ttwo", "     3\tthree")],
      [view(three, 2, -1), shown(three, "     2\ttwo", "     3\tthree")],
      [view(three, 2, 2), shown(three, "     2\ttwo")],
      [view(three, 0, 1), shown(three, "     1\tone")],
      [view(three, 2, 99), shown(three, "     2\ttwo", "     3\tthree")],
      [view(`${three}/`), shown(`${three}/`, "     1\tone", "     2\ttwo", "     3\tthree")],
    ],
    after: { "three.txt": "one\ntwo\nthree" },
  },
  {
    title: "a range without lines, and what is no range",
    steps: [
      created(three, "one\ntwo\nthree"),
      [view(three, 3, 2), noRange("[3, 2]"), { trap: traps.emptyRange, answer: shown(three) }],
      [view(three, 10, 20), noRange("[10, 20]"), { trap: traps.emptyRange, answer: shown(three) }],
      [
        view(three, 2),
        "✗ Cannot call AnthropicMemory: view_range is an array, allowed: two whole numbers, the first and the last line; -1 stands for the end of the file",
        { trap: traps.emptyRange, answer: shown(three, "     1\tone", "     2\ttwo", "     3\tthree") },
      ],
    ],
    after: { "three.txt": "one\ntwo\nthree" },
  },
  {
    title: "a line end at the end begins no line, and an empty file has none",
    steps: [
      created("/memories/a", "one\n"),
      [
        view("/memories/a"),
        shown("/memories/a", "     1\tone"),
        { trap: traps.finalLineEnd, answer: shown("/memories/a", "     1\tone", "     2\t") },
      ],
      created("/memories/b", ""),
      [view("/memories/b"), shown("/memories/b"), { trap: traps.emptyText, answer: shown("/memories/b", "     1\t") }],
    ],
    after: { a: "one\n", b: "" },
  },
  {
    title: "a listing is two levels deep, without hidden items",
    steps: [
      created("/memories/p/q/r/s.txt", "12345"),
      created("/memories/p/.hidden", "1"),
      created("/memories/p/node_modules/m.js", "12"),
      created("/memories/p.txt", "x".repeat(5632)),
      created("/memories/é.txt", "é"),
      [
        view("/memories"),
        listed(
          "/memories",
          "5.5K\t/memories",
          "8B\t/memories/p/",
          "5B\t/memories/p/q/",
          "5.5K\t/memories/p.txt",
          "2B\t/memories/é.txt",
        ),
      ],
      [view("/memories/p"), listed("/memories/p", "8B\t/memories/p", "5B\t/memories/p/q/", "5B\t/memories/p/q/r/")],
      [
        view("/memories/p/"),
        listed("/memories/p/", "8B\t/memories/p/", "5B\t/memories/p/q/", "5B\t/memories/p/q/r/"),
        {
          trap: traps.doubleSlash,
          answer: listed("/memories/p/", "4K\t/memories/p/", "4K\t/memories/p//q/", "4K\t/memories/p//q/r/"),
        },
      ],
      [view("/memories/p/.hidden"), shown("/memories/p/.hidden", "     1\t1")],
      [
        view("/memories/p/node_modules"),
        listed("/memories/p/node_modules", "2B\t/memories/p/node_modules", "2B\t/memories/p/node_modules/m.js"),
      ],
    ],
    after: {
      "p.txt": "x".repeat(5632),
      "p/.hidden": "1",
      "p/node_modules/m.js": "12",
      "p/q/r/s.txt": "12345",
      "é.txt": "é",
    },
  },
  {
    title: "a directory is there as long as a file is below it",
    steps: [
      created("/memories/p/a.txt", "1"),
      [remove("/memories/p/a.txt"), "Successfully deleted /memories/p/a.txt"],
      [
        view("/memories"),
        listed("/memories", "0B\t/memories"),
        { trap: traps.emptyFolder, answer: listed("/memories", "4K\t/memories", "4K\t/memories/p/") },
      ],
      [
        view("/memories/p"),
        missing("/memories/p"),
        { trap: traps.emptyFolder, answer: listed("/memories/p", "4K\t/memories/p") },
      ],
    ],
    after: {},
  },
  {
    title: "a long text is cut, and shown in ranges",
    steps: [
      created("/memories/long", "a line of 20 letters\n".repeat(1000).slice(0, -1)),
      [
        view("/memories/long"),
        shown("/memories/long", ...numbers(1, 571), "[429 more lines: view_range [572, 1000]]"),
        { trap: traps.longText, answer: shown("/memories/long", ...numbers(1, 1000)) },
      ],
      [view("/memories/long", 572, 1000), shown("/memories/long", ...numbers(572, 1000))],
      [insert("/memories/long", 1000, "end"), "The file /memories/long has been edited."],
    ],
    after: { long: `${"a line of 20 letters\n".repeat(1000)}end` },
  },
];

function numbers(first: number, last: number): string[] {
  return Array.from({ length: last - first + 1 }, (_, at) => `${String(first + at).padStart(6)}\ta line of 20 letters`);
}
