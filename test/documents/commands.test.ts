/** The commands in the documents exist, with their options, and so do the package's scripts. */
import { expect, test } from "vitest";

import { memcell } from "../stage/command.ts";
import { codeIn, commandLinesIn, withoutBlocks } from "./markdown-table.ts";
import { textOf, trackedFiles } from "./tracked-files.ts";

/** The history names commands that are gone. */
const documents = trackedFiles.filter((file) => file.endsWith(".md") && file !== "CHANGELOG.md");

const isCall = (line: string): boolean => /^(?:npx )?memcell [a-z]/.test(line);
const calls = documents.flatMap((document) => {
  const text = textOf(document);
  const lines = [...commandLinesIn(text).filter((line) => line.startsWith("npx ")), ...codeIn(withoutBlocks(text))];
  return lines.filter(isCall).map((line) => ({ document, line }));
});

/** The words of a line of a shell that calls `memcell`, without what is behind it. */
const wordsOf = (line: string): string[] =>
  (/(?:^|\s)memcell (.*)/.exec(line.replace(/\s#.*|[|>].*/, ""))?.[1] ?? "")
    .match(/'[^']*'|\S+/g)
    ?.map((word) => word.replaceAll("'", "")) ?? [];

/** The help of a command of two words, such as `trash list`, or of one. */
async function helpOf([first = "", second = ""]: readonly string[]): Promise<string> {
  const names = second.startsWith("-") ? [[first]] : [[first, second], [first]];
  for (const name of names) {
    const { status, stdout } = await memcell([...name, "--help"]);
    if (status === 0 && stdout.includes(`memcell ${name.join(" ")}`)) return stdout;
  }
  return expect.fail("there is no such command");
}

test("there are calls of the command in the documents", () => {
  expect(calls.length).toBeGreaterThan(60);
});

test.for(calls)("$document: $line", async ({ line }) => {
  const words = wordsOf(line);
  const help = await helpOf(words);
  for (const word of words.filter((each) => each.startsWith("--")))
    expect(help).toMatch(new RegExp(`${word.split("=")[0]}\\b`));
});

test("the scripts that documents name are the package's", () => {
  const { scripts } = JSON.parse(textOf("package.json")) as { scripts: object };
  const given = documents.flatMap((document) =>
    Array.from(textOf(document).matchAll(/npm run ([\w:-]+)/g), ([, name = ""]) => name),
  );
  expect(given.length).toBeGreaterThan(20);
  expect(given.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
});
