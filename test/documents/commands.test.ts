/** The commands in the documents exist, with their options, and so do the package's scripts. */
import { fileURLToPath } from "node:url";

import { describe, expect, test } from "vitest";

import { readCommandLine } from "../../host/cli/command-line.ts";
import type { Command } from "../../host/cli/command.ts";
import { codeIn, commandLinesIn, withoutBlocks } from "./markdown-table.ts";
import { filesAt, textOf, trackedFiles } from "./tracked-files.ts";

/** The history names commands that are gone. */
const documents = trackedFiles.filter((file) => file.endsWith(".md") && file !== "CHANGELOG.md");

const commandFiles = filesAt("host/cli/*-command.ts").filter((file) => !file.endsWith("/run-command.ts"));
const commands = new Map<string, Command>();
for (const file of commandFiles) {
  const exported = (await import(fileURLToPath(new URL(`../../${file}`, import.meta.url)))) as Record<string, Command>;
  for (const [name, command] of Object.entries(exported))
    if (name.endsWith("Command")) commands.set(command.name, command);
}

interface Named {
  readonly command: Command;
  readonly args: readonly string[];
}

/** What a line of a shell calls: its command and the arguments, or `null` if it calls none of `memcell`. */
function named(line: string): Named | null {
  const words = (/(?:^|\s)memcell (.*)/.exec(line.replace(/\s#.*|[|>].*/, ""))?.[1] ?? "").match(/'[^']*'|\S+/g) ?? [];
  const args = words.map((word) => word.replaceAll("'", ""));
  const command = commands.get(args.slice(0, 2).join(" ")) ?? commands.get(args[0] ?? "");
  if (!command) return null;
  return { command, args: args.slice(command.name.split(" ").length) };
}

const lines = documents.flatMap((document) =>
  commandLinesIn(textOf(document))
    .filter((line) => /^npx memcell [a-z]/.test(line))
    .map((line) => ({ document, line })),
);

test("the commands of the package are known", () => {
  expect(commands.size).toBeGreaterThan(12);
  expect(lines.length).toBeGreaterThan(30);
});

test.for(lines)("$document: $line", ({ line }) => {
  const { command, args } = named(line) ?? expect.fail("there is no such command");
  expect(readCommandLine(command, args)).toHaveProperty("operands");
});

describe("options in the text", () => {
  const spans = documents.flatMap((document) =>
    codeIn(withoutBlocks(textOf(document)))
      .filter((line) => /^(?:npx )?memcell [a-z]/.test(line))
      .map((line) => ({ document, line })),
  );
  test.for(spans)("$document: $line", ({ line }) => {
    const { command, args } = named(line) ?? expect.fail("there is no such command");
    const answer = readCommandLine(command, ["--help"]);
    const help = "help" in answer ? answer.help : "";
    for (const option of args.filter((word) => word.startsWith("--"))) expect(help).toMatch(new RegExp(`${option}\\b`));
  });
});

test("the scripts that documents name are the package's", () => {
  const { scripts } = JSON.parse(textOf("package.json")) as { scripts: object };
  const given = documents.flatMap((document) =>
    Array.from(textOf(document).matchAll(/npm run ([\w:-]+)/g), ([, name = ""]) => name),
  );
  expect(given.length).toBeGreaterThan(20);
  expect(given.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
});
