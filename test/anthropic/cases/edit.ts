import { created } from "../case.ts";
import type { Case } from "../case.ts";
import { create, insert, missing, replace } from "../tools.ts";
import { traps } from "../traps.ts";

const a = "/memories/a";
const edited = (...lines: readonly string[]): string =>
  ["The memory file has been edited. Here is the snippet showing the change (with line numbers):", ...lines].join("\n");
const notFound = (old: string): string =>
  `✗ No replacement was performed, old_str \`${old}\` did not appear verbatim in ${a}.`;
const notUnique = (old: string, lines: string): string =>
  `✗ No replacement was performed. Multiple occurrences of old_str \`${old}\` in lines: ${lines}. Please ensure it is unique`;
const inserted = `The file ${a} has been edited.`;
const noLine = (line: number, count: number): string =>
  `✗ Invalid \`insert_line\` parameter: ${line}. It should be within the range of lines of the file: [0, ${count}]`;

export const editCases: readonly Case[] = [
  {
    title: "create does not overwrite, and makes directories",
    steps: [
      created(a, "1"),
      [create(a, "2"), `✗ File ${a} already exists`],
      created("/memories/b/c/d", "3"),
      [create("/memories/b", "2"), "✗ File /memories/b already exists"],
      [create("/memories/b/c/", "2"), "✗ File /memories/b/c/ already exists"],
      [create("/memories", "2"), "✗ File /memories already exists"],
      created("/memories/.hidden", ""),
    ],
    after: { ".hidden": "", a: "1", "b/c/d": "3" },
  },
  {
    title: "str_replace replaces the only match, and shows the lines around it",
    steps: [
      created(a, "1\n2\n3 old\n4\n5\n6"),
      [replace(a, "old", "new"), edited("     1\t1", "     2\t2", "     3\t3 new", "     4\t4", "     5\t5")],
      [replace(a, "1", "one\n1"), edited("     1\tone", "     2\t1", "     3\t2")],
      [replace(a, "none", "x"), notFound("none")],
      [replace(a, "NEW", "x"), notFound("NEW")],
      [replace("/memories/none", "a", "b"), missing("/memories/none")],
    ],
    after: { a: "one\n1\n2\n3 new\n4\n5\n6" },
  },
  {
    title: "new_str is literal",
    steps: [created(a, "x y"), [replace(a, "x", "$& $1 $$ $`"), edited("     1\t$& $1 $$ $` y")]],
    after: { a: "$& $1 $$ $` y" },
  },
  {
    title: "str_replace replaces nothing if there are several matches",
    steps: [
      created(a, "Hello\nMiddle\nHello"),
      [replace(a, "Hello", "Hi"), notUnique("Hello", "1, 3")],
      [
        replace(a, "d", "D"),
        notUnique("d", "2"),
        {
          trap: traps.twiceInLine,
          answer: edited("     1\tHello", "     2\tMiDdle", "     3\tHello"),
        },
      ],
    ],
    after: { a: "Hello\nMiddle\nHello" },
    localAfter: { a: "Hello\nMiDdle\nHello" },
  },
  {
    title: "old_str over several lines",
    steps: [
      created(a, "1\n2\n3\n1\n2"),
      [
        replace(a, "2\n3", "two"),
        edited("     1\t1", "     2\ttwo", "     3\t1", "     4\t2"),
        { trap: traps.severalLines, answer: notFound("2\n3") },
      ],
    ],
    after: { a: "1\ntwo\n1\n2" },
    localAfter: { a: "1\n2\n3\n1\n2" },
  },
  {
    title: "without new_str, the match is deleted",
    steps: [
      created(a, "one two"),
      [replace(a, " two"), edited("     1\tone"), { trap: traps.noNewText, answer: edited("     1\toneundefined") }],
    ],
    after: { a: "one" },
    localAfter: { a: "oneundefined" },
  },
  {
    title: "an empty old_str",
    steps: [
      created(a, "one"),
      [
        replace(a, "", "x"),
        "✗ old_str is empty, allowed: text that is in the file",
        { trap: traps.emptyOldText, answer: edited("     1\txone") },
      ],
    ],
    after: { a: "one" },
    localAfter: { a: "xone" },
  },
  {
    title: "a directory has no text",
    steps: [
      created("/memories/p/a", "one"),
      [
        replace("/memories/p", "one", "x"),
        missing("/memories/p"),
        { trap: traps.editedFolder, answer: "✗ The path /memories/p is not a file." },
      ],
      [
        insert("/memories/p", 0, "x"),
        "✗ The path /memories/p does not exist",
        { trap: traps.editedFolder, answer: "✗ The path /memories/p is not a file." },
      ],
      [
        insert("/memories/none", 0, "x"),
        "✗ The path /memories/none does not exist",
        { trap: traps.insertMissing, answer: missing("/memories/none") },
      ],
    ],
    after: { "p/a": "one" },
  },
  {
    title: "insert puts lines after a line",
    steps: [
      created(a, "1\n2"),
      [insert(a, 1, "1.5"), inserted],
      [insert(a, 0, "0\n"), inserted],
      [insert(a, 4, "3"), inserted],
      [insert(a, 1, "0.1\n0.2\n"), inserted],
      [insert(a, 3, ""), inserted],
      [insert(a, 99, "x"), noLine(99, 8)],
      [insert(a, -1, "x"), noLine(-1, 8)],
    ],
    after: { a: "0\n0.1\n0.2\n\n1\n1.5\n2\n3" },
  },
  {
    title: "insert after the last line of a text that ends in a line end",
    steps: [
      created(a, "1\n2\n3\n"),
      [insert(a, 3, "4"), inserted],
      [insert(a, 4, "5\n"), inserted],
      [insert(a, 6, "x"), noLine(6, 5), { trap: traps.insertRange, answer: inserted }],
    ],
    after: { a: "1\n2\n3\n4\n5\n" },
    localAfter: { a: "1\n2\n3\n4\n5\n\nx" },
  },
  {
    title: "insert keeps the text as it is",
    steps: [
      created(a, "1"),
      [insert(a, 1, "2\n"), inserted],
      created("/memories/e", ""),
      [insert("/memories/e", 0, "x"), "The file /memories/e has been edited."],
    ],
    after: { a: "1\n2\n", e: "x" },
    localAfter: { a: "1\n2", e: "x\n" },
    trap: traps.insertLineEnd,
  },
  {
    title: "insert_line is a whole number",
    steps: [
      created(a, "1\n2"),
      [insert(a, 1.5, "x"), noLine(1.5, 2), { trap: traps.insertFraction, answer: inserted }],
    ],
    after: { a: "1\n2" },
    localAfter: { a: "1\nx\n2" },
  },
];
