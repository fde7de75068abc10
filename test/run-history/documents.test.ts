/**
 * What is documented for programs works: the READMEs' programs, also Claude's memory tool's, and every example of the run
 * history's docstrings.
 */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import * as runHistory from "memcell/run-history";
import { expect, test } from "vitest";

import { textOf, trackedFiles } from "../documents/tracked-files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const projectFolder = fileURLToPath(new URL("../..", import.meta.url));

/** What a program prints. It is in the package's own folder, so that Node resolves the package's name. */
function outputOf(name: string, program: string): string {
  using folder = temporaryFolder();
  const file = join(projectFolder, "dist", `${name}.mjs`);
  writeFileSync(file, program);
  return execFileSync(process.execPath, [file], { cwd: folder.path, encoding: "utf8" });
}

test.for([
  ["shared/run-history/README.md", "run-history-program"],
  ["shared/anthropic/README.md", "anthropic-program"],
  ["shared/langgraph/README.md", "langgraph-program"],
] as const)("the program in %s prints what is shown", ([page, name]) => {
  const [, program = "", shown] = /```js\n([\s\S]*?)```\n\n```\n([\s\S]*?)```/.exec(textOf(page)) ?? [];
  expect(outputOf(name, program)).toBe(shown);
});

interface Example {
  readonly file: string;
  readonly code: string;
}

const examples = trackedFiles
  .filter((file) => /^shared\/run-history\/.*\.ts$/.test(file))
  .flatMap((file) =>
    Array.from(textOf(file).matchAll(/\* @example\n((?: *\* .*\n)+)/g), ([, block = ""]): Example => {
      return { file, code: block.replaceAll(/^ *\* /gm, "") };
    }),
  );

test("each constructor, decoder and class has an example", () => {
  const all = examples.map(({ code }) => code).join("\n");
  const named = Object.keys(runHistory).filter((name) => !["eventTypes", "LosslessNumber"].includes(name));
  expect(named.filter((name) => !all.includes(name))).toEqual([]);
});

test("the examples print what their comments say", () => {
  const names = Object.keys(runHistory).join(", ");
  const blocks = examples.map(({ code }) => `await (async () => {\n${code}\n})();`);
  const imports = `import { createRuntime } from "memcell";\nimport { ${names} } from "memcell/run-history";\n`;
  const printed = outputOf("run-history-examples", imports + blocks.join("\n"));
  const said = examples.flatMap(({ code }) =>
    Array.from(code.matchAll(/^ *console\.log\(.*\); \/\/ (.*)$/gm), ([, comment]) => comment),
  );
  expect(said.length).toBeGreaterThan(15);
  expect(printed.trimEnd().split("\n")).toEqual(said);
});
