/** The commands in the documents exist, with their options and operands, and so do the package's scripts. */
import { expect, test } from "vitest";

import { memcell } from "../stage/command.ts";
import { codeIn, commandLinesIn, tablesIn, withoutBlocks } from "./markdown-table.ts";
import { textOf, trackedFiles } from "./tracked-files.ts";

/** The history names commands that are gone. */
const documents = trackedFiles.filter((file) => file.endsWith(".md") && file !== "CHANGELOG.md");

/** How a person calls the command in a project that has the package, in a clone, and how a sentence names it. */
const isCall = (line: string): boolean =>
  /^(?:(?:node_modules\/\.bin\/)?memcell|node dist\/host\/cli\/main\.js) [a-z]/.test(line);
const calls = documents.flatMap((document) => {
  const text = textOf(document);
  const lines = [...commandLinesIn(text), ...codeIn(withoutBlocks(text))];
  return lines.filter(isCall).map((line) => ({ document, line }));
});

/** The words of a line of a shell that calls `memcell`, without what is behind it. */
const wordsOf = (line: string): string[] =>
  (/(?:\bmemcell|main\.js) (.*)/.exec(line.replace(/\s#.*|[|>].*/, ""))?.[1] ?? "")
    .match(/'[^']*'|\S+/g)
    ?.map((word) => word.replaceAll("'", "")) ?? [];

/** A command of two words, such as `trash list`, or of one: its help, and the words behind its name. */
async function commandOf(words: readonly string[]): Promise<{ help: string; rest: readonly string[] }> {
  for (const count of words[1]?.startsWith("-") === false ? [2, 1] : [1]) {
    const name = words.slice(0, count);
    const { status, stdout } = await memcell([...name, "--help"]);
    if (status === 0 && stdout.startsWith(`Usage: memcell ${name.join(" ")} `))
      return { help: stdout, rest: words.slice(count) };
  }
  return expect.fail("there is no such command");
}

/** The words that are neither options nor their values. */
const operandsOf = (words: readonly string[], help: string): string[] =>
  words.filter((word, at) => !word.startsWith("-") && !new RegExp(`${words[at - 1]} [<[]`).test(help));

test("there are calls of the command in the documents", () => {
  expect(calls.length).toBeGreaterThan(60);
});

test.for(calls)("$document: $line", async ({ line }) => {
  const { help, rest } = await commandOf(wordsOf(line));
  for (const word of rest.filter((each) => each.startsWith("--")))
    expect(help).toMatch(new RegExp(`${word.split("=")[0]}\\b`));
  const [usage = ""] = /(?<=^Usage: memcell ).*/m.exec(help) ?? [];
  const [least, most] = [/<[^>]+>/g, /<[^>]+>|\[(?!options)[^\]]+\]/g].map((each) => usage.match(each)?.length ?? 0);
  const operands = operandsOf(rest, help);
  expect(operands.length, usage).toBeLessThanOrEqual(usage.includes("...") ? Infinity : (most ?? 0));
  // A name in a sentence stands for the command.
  if (rest.length > 0) expect(operands.length, usage).toBeGreaterThanOrEqual(least ?? 0);
});

test("no document and no message has npx run memcell: elsewhere, that is a stranger's package", () => {
  const telling = [...documents, ...trackedFiles.filter((file) => /^(?:build|host|shared)\/.*\.ts$/.test(file))];
  expect(telling.filter((file) => textOf(file).includes("npx memcell"))).toEqual(["host/cli/README.md"]);
});

test("host/cli/README.md lists the commands that the help lists", async () => {
  const help = (await memcell(["--help"])).stdout;
  const commands = Array.from(help.matchAll(/^ {2}([a-z]+(?: [a-z]+)?) {2,}/gm), ([, name]) => name);
  const rows = tablesIn(textOf("host/cli/README.md"))[0]?.map(([name = ""]) => codeIn(name)[0]);
  expect(rows).toEqual(commands);
});

test("the scripts that documents name are the package's", () => {
  const { scripts } = JSON.parse(textOf("package.json")) as { scripts: object };
  const given = documents.flatMap((document) =>
    Array.from(textOf(document).matchAll(/npm run ([\w:-]+)/g), ([, name = ""]) => name),
  );
  expect(given.length).toBeGreaterThan(20);
  expect(given.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
});
