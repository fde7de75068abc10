/**
 * The SDK's local tool gets the commands of the conformance vectors of Claude's memory tool. It gives the same answers, but
 * for the differences that README's table names.
 */
import { expect, test } from "vitest";

import { readVectors } from "../conformance/vector.ts";
import type { Vector } from "../conformance/vector.ts";
import { tableBelow } from "../documents/markdown-table.ts";
import { textOf } from "../documents/tracked-files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { create, listed, localTool, missing, shown, view } from "./tools.ts";
import type { Command } from "./tools.ts";

interface Difference {
  /** As the first column of the README's table names it. */
  readonly trap: string;
  readonly vector: string;
  /** The local tool's answers, by the place of the command in the vector. */
  readonly answers?: Readonly<Record<number, string>>;
  /** Its files afterwards, beside or instead of memcell's. `null`: it has none of this name. */
  readonly files?: Readonly<Record<string, string | null>>;
}

const edited = (...lines: readonly string[]): string =>
  ["The memory file has been edited. Here is the snippet showing the change (with line numbers):", ...lines].join("\n");
const success = (path: string): string => `File created successfully at: ${path}`;
const three = "/memories/three.txt";
const inTwoLines = "a-line-end-at-the-end-begins-no-line-and-an-empty-file-has-none";
const noFile = "✗ The path /memories/p is not a file.";

const differences: readonly Difference[] = [
  {
    trap: "A text that ends in a line end shows an empty line after it.",
    vector: inTwoLines,
    answers: { 1: shown("/memories/a", "     1\tone", "     2\t") },
  },
  {
    trap: "An empty text shows an empty line.",
    vector: inTwoLines,
    answers: { 3: shown("/memories/b", "     1\t") },
  },
  {
    trap: "A `view_range` that holds no line of the file shows nothing; one that is no pair is ignored.",
    vector: "a-range-without-lines-and-what-is-no-range",
    answers: { 1: shown(three), 2: shown(three), 3: shown(three, "     1\tone", "     2\ttwo", "     3\tthree") },
  },
  {
    trap: "`str_replace` never finds an `old_str` of several lines.",
    vector: "old-str-over-several-lines",
    answers: { 1: "✗ No replacement was performed, old_str `2\n3` did not appear verbatim in /memories/a." },
    files: { a: "1\n2\n3\n1\n2" },
  },
  {
    trap: "Of two matches in one line, `str_replace` silently replaces the first.",
    vector: "str-replace-replaces-nothing-if-there-are-several-matches",
    answers: { 2: edited("     1\tHello", "     2\tMiDdle", "     3\tHello") },
    files: { a: "Hello\nMiDdle\nHello" },
  },
  {
    trap: "Without `new_str`, it writes `undefined`.",
    vector: "without-new-str-the-match-is-deleted",
    answers: { 1: edited("     1\toneundefined") },
    files: { a: "oneundefined" },
  },
  {
    trap: "An empty `old_str` is found in every line.",
    vector: "an-empty-old-str",
    answers: { 1: edited("     1\txone") },
    files: { a: "xone" },
  },
  {
    trap: "`str_replace` and `insert` say of a directory that it is not a file.",
    vector: "a-directory-has-no-text",
    answers: { 1: noFile, 2: noFile },
  },
  {
    trap: "`insert` into a missing file has the message of `view`.",
    vector: "a-directory-has-no-text",
    answers: { 3: missing("/memories/none") },
  },
  {
    trap: "`insert` counts an empty line after the last line end.",
    vector: "insert-after-the-last-line-of-a-text-that-ends-in-a-line-end",
    answers: { 3: "The file /memories/a has been edited." },
    files: { a: "1\n2\n3\n4\n5\n\nx" },
  },
  {
    trap: "`insert` at the end drops the line end of the text, or adds one to an empty file.",
    vector: "insert-keeps-the-text-as-it-is",
    files: { a: "1\n2", e: "x\n" },
  },
  {
    trap: "`insert_line` can be 1.5.",
    vector: "insert-line-is-a-whole-number",
    answers: { 1: "The file /memories/a has been edited." },
    files: { a: "1\nx\n2" },
  },
  {
    trap: "Errors of the operating system show paths of the host.",
    vector: "no-error-shows-a-path-of-the-host",
    answers: {
      2: "✗ ENOTDIR: not a directory, realpath 'FOLDER/memories/a.txt/b'",
      3: "✗ ENOTDIR: not a directory, realpath 'FOLDER/memories/a.txt/p'",
      4: "✗ EINVAL: invalid argument, rename 'FOLDER/memories/p' -> 'FOLDER/memories/p/q'",
      5: String.raw`✗ The argument 'path' must be a string, Uint8Array, or URL without null bytes. Received 'FOLDER/memories/\x00'`,
    },
  },
  {
    trap: "`/memories_backup/a` is taken for `/memories/_backup/a`.",
    vector: "a-name-that-begins-like-the-root",
    answers: { 0: success("/memories_backup/a"), 1: success("/memoriesb") },
    files: { "_backup/a": "1", b: "1" },
  },
  {
    trap: "`..` inside the root and empty parts are resolved.",
    vector: "parts-that-are-no-names",
    answers: {
      1: shown("/memories/x/../a.txt", "     1\t1"),
      2: shown("/memories/./a.txt", "     1\t1"),
      3: shown("/memories//a.txt", "     1\t1"),
    },
  },
  {
    trap: "`%2e%2e%2f` and `..\\` are letters of a name.",
    vector: "climbing-in-other-spellings",
    answers: {
      0: success("/memories/%2e%2e%2fa"),
      1: success("/memories/..\\a"),
      2: success("/memories/b%2F%2E.%5c..\\c"),
    },
    files: { "%2e%2e%2fa": "1", "..\\a": "1", "b%2F%2E.%5c..\\c": "1" },
  },
  {
    trap: "A listing of `/memories/a/` shows `/memories/a//b`.",
    vector: "a-listing-is-two-levels-deep-without-hidden-items",
    answers: { 7: listed("/memories/p/", "4K\t/memories/p/", "4K\t/memories/p//q/", "4K\t/memories/p//q/r/") },
  },
  {
    trap: "A directory stays when nothing is left in it.",
    vector: "a-directory-is-there-as-long-as-a-file-is-below-it",
    answers: {
      2: listed("/memories", "4K\t/memories", "4K\t/memories/p/"),
      3: listed("/memories/p", "4K\t/memories/p"),
    },
  },
  {
    trap: "A directory can be called `shared`.",
    vector: "the-paths-of-other-stores",
    answers: {
      0: success("/memories/shared/a"),
      1: listed("/memories/shared", "4K\t/memories/shared", "1B\t/memories/shared/a"),
    },
    files: { "shared/a": "1" },
  },
];

/** Rows of the table that `own-store.test.ts`, `at-once` and the tests below show, and `withoutFolderSizes`. */
const shownElsewhere = [
  "The message for more than 999,999 lines is not the documented one.",
  "A text of any length is shown whole.",
  "The size of a directory is that of its inode.",
  "Of 10 inserts at once, 9 are lost.",
  "Links are followed inside the root.",
  "Names and texts are as long as the disk allows.",
];

/** About what the local tool does not have: other kinds of values and inputs, agents, and limits. */
const ownVectors = new Set(
  (
    "at-once commands encrypted-values entries-of-programs inputs json-values large-texts one-store-two-tools " +
    "stores-of-others times-to-live values-as-text what-others-have-created"
  ).split(" "),
);

const vectors = readVectors()
  .filter(({ name }) => name.startsWith("anthropic-memory/"))
  .map(({ name, vector }) => ({ name: name.replace("anthropic-memory/", ""), vector }))
  .filter(({ name }) => !ownVectors.has(name));

test.for(vectors)(
  "$name: the answers and files are the vector's, but for the differences",
  async ({ name, vector }) => {
    using folder = temporaryFolder();
    const tool = await localTool(folder.path);
    const here = differences.filter((each) => each.vector === name);
    const answers = Object.assign({}, ...here.map((each) => each.answers)) as Record<number, string>;
    for (const [at, { input, result }] of vector.calls.entries()) {
      const ours = answerIn(result as Answer);
      expect(answers[at], `command ${at} is none of the differences`).not.toBe(ours);
      const answer = await tool.run(input as Command);
      expect.soft(withoutFolderSizes(answer)).toBe(withoutFolderSizes(answers[at] ?? ours));
    }
    const files = Object.assign(filesOf(vector), ...here.map((each) => each.files)) as Record<string, string>;
    expect(await tool.files()).toEqual(files);
  },
);

type Answer = { readonly ok: true; readonly message: string } | { readonly ok: false; readonly error: Error };

/** As the SDK gives it to Claude, which puts `Error: ` before each message. */
const answerIn = (result: Answer): string =>
  result.ok ? result.message : `✗ ${result.error.message.replace(/^Error: /, "")}`;

/** The texts of a vector's entries, by their keys. */
function filesOf({ storesAfter = {} }: Vector): Record<string, string> {
  const files = Object.entries(storesAfter).flatMap(([, { files: each = {} }]) => Object.entries(each));
  const texts = files.flatMap(([path, file]) => (path.startsWith("trash/") || typeof file !== "string" ? [] : [file]));
  return Object.fromEntries(
    texts.map((text) => {
      const [, key = '""', body = ""] = /^---\nkey: (.*)\n[^]*?\n---\n([^]*)$/.exec(text) ?? [];
      return [JSON.parse(key) as string, body];
    }),
  );
}

/** The size of an inode depends on the file system. */
function withoutFolderSizes(answer: string): string {
  if (!answer.startsWith("Here're the files")) return answer;
  const lines = answer.split("\n");
  return lines.map((line, at) => (at === 1 || line.endsWith("/") ? line.replace(/^[^\t]*/, "*") : line)).join("\n");
}

test("names and texts have no limit, and a text is shown whole", async () => {
  using folder = temporaryFolder();
  const tool = await localTool(folder.path);
  const [name, text] = [`/memories/${"k".repeat(201)}`, "é".repeat(51_201)];
  expect(await tool.run(create(name, text))).toBe(success(name));
  expect(await tool.run(view(name))).toBe(shown(name, `     1\t${text}`));
});

test("the README's table names each difference, and no other one", () => {
  const named = tableBelow(textOf("shared/anthropic/README.md"), "What differs from the SDK's local tool");
  const known = new Set([...differences.map(({ trap }) => trap), ...shownElsewhere]);
  expect(new Set(named.map(([trap]) => trap))).toEqual(known);
  expect(differences.filter(({ vector }) => !vectors.some(({ name }) => name === vector))).toEqual([]);
});
