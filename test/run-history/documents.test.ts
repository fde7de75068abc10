/**
 * What is documented for programs works: the READMEs' programs, also Claude's memory tool's, the table of the run history,
 * and every example of its docstrings.
 */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import * as runHistory from "memcell/run-history";
import { eventTypes } from "memcell/run-history";
import { expect, test } from "vitest";

import { codeIn, tableBelow } from "../documents/markdown-table.ts";
import { textOf, trackedFiles } from "../documents/tracked-files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const projectFolder = fileURLToPath(new URL("../..", import.meta.url));
const readme = textOf("shared/run-history/README.md");

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
] as const)("the program in %s prints what is shown", ([page, name]) => {
  const [, program = "", shown] = /```js\n([\s\S]*?)```\n\n```\n([\s\S]*?)```/.exec(textOf(page)) ?? [];
  expect(outputOf(name, program)).toBe(shown);
});

const fullData = {
  user_message: { message: "m", structured: 1 },
  tool_call: {
    toolCallId: "c",
    toolName: "t",
    parentToolCallId: "p",
    payload: "{}",
    queue: "q",
    expectedChildrenTotal: 1,
  },
  tool_result: {
    toolCallId: "c",
    toolName: "t",
    parentToolCallId: "p",
    resultJson: "{}",
    serverData: "{}",
    preview: "p",
    bounds: { returned: 1, truncated: false },
    duration: 1n,
    telemetry: {},
    retryHint: { reason: "r", tool: "t" },
    errorMessage: "e",
  },
  planner_note: { note: "n" },
  thinking: { text: "t", signature: "s", redacted: Uint8Array.of(1), contentIndex: 1, final: true },
};
const made = {
  user_message: runHistory.userMessageData(fullData.user_message),
  assistant_message: runHistory.assistantMessageData(fullData.user_message),
  tool_call: runHistory.toolCallData(fullData.tool_call),
  tool_result: runHistory.toolResultData(fullData.tool_result),
  planner_note: runHistory.plannerNoteData(fullData.planner_note),
  thinking: runHistory.thinkingData(fullData.thinking),
};
const least = {
  user_message: runHistory.userMessageData({ message: "" }),
  assistant_message: runHistory.assistantMessageData({ message: "" }),
  tool_call: runHistory.toolCallData({ toolCallId: "", toolName: "" }),
  tool_result: runHistory.toolResultData({ toolCallId: "", toolName: "" }),
  planner_note: runHistory.plannerNoteData({ note: "" }),
  thinking: runHistory.thinkingData({ contentIndex: 0, final: false }),
};

test("the README's table has each type with its functions and keys", () => {
  const rows = tableBelow(readme, "Types and their keys").map((cells) => cells.map(codeIn));
  expect(rows.map(([type]) => type?.[0])).toEqual(eventTypes);
  for (const [type, functions = [], always = [], others = []] of rows) {
    const name = type?.[0] as keyof typeof made;
    expect(Object.keys(least[name].toMap())).toEqual(always);
    expect(Object.keys(made[name].toMap()).toSorted()).toEqual([...always, ...others].toSorted());
    for (const each of functions) expect(runHistory).toHaveProperty(each);
  }
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
