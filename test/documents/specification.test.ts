/** The specification's examples, executed, and its numbers. */
import { createRuntime } from "memcell";
import type { ToolResult } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import { errorCodes } from "../../shared/errors.ts";
import { callLimits, guestLimits, pluginLimits, storeLimits } from "../../shared/limits.ts";
import { manifestSchema, reportableCodes } from "../../shared/manifest.ts";
import type { PluginError } from "../../shared/manifest.ts";
import { safeParse } from "../../shared/zod.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { testPlugin } from "../support/test-plugin.ts";
import { userFolderNames } from "../support/user-files.ts";
import { codeIn, tableUnder } from "./markdown-table.ts";
import { textOf } from "./tracked-files.ts";

const specification = textOf("shared/README.md");

function blockOf(kind: string): string {
  const [, block] = new RegExp(`\\n\`\`\`${kind}\\n([\\s\\S]*?)\\n\`\`\``).exec(specification) ?? [];
  if (block === undefined) throw new Error(`The specification has no block of ${kind}`);
  return block;
}

test("the manifest is one", () => {
  expect(safeParse(manifestSchema, JSON.parse(blockOf("json manifest")))).toMatchObject({ success: true });
});

const declaredErrors = JSON.parse(blockOf("json errors")) as readonly PluginError[];
const withErrors = (errors: readonly unknown[]): unknown => ({
  ...(JSON.parse(blockOf("json manifest")) as object),
  errors,
});

test("the error codes of a plugin's own are some that a manifest may declare", () => {
  expect(safeParse(manifestSchema, withErrors(declaredErrors))).toMatchObject({ success: true });
  for (const { code, meaning } of declaredErrors) {
    const cases = errorCodes.filter((of) => safeParse(manifestSchema, withErrors([{ code, of, meaning }])).success);
    expect(cases).toEqual(codeIn(between("is the code of the table that it is a case of:", "; blame and retryable")));
  }
});

test("what a guest may report without having been told it is what the page says", () => {
  const known = codeIn(between("a code that the guest can know. It knows", "any code that its manifest declares"));
  expect(known).toEqual(reportableCodes);
});

/** What the page says between two of its phrases. */
function between(first: string, last: string): string {
  const prose = specification.replaceAll(/\s+/g, " ");
  expect(prose.split(first)).toHaveLength(2);
  return prose.split(first)[1]?.split(last)[0] ?? "";
}

const folder = temporaryFolder();
const plugins = [testPlugin("puppet")];
let runtime: Awaited<ReturnType<typeof createRuntime>>;
const clock = (): number => 1_700_000_000_000;
beforeAll(async () => {
  runtime = await createRuntime({ dataDir: folder.path, plugins, policy: policyFor(plugins), threadsMax: 1, clock });
});
afterAll(async () => {
  await runtime.close();
  folder[Symbol.dispose]();
});

/** A capability, the text of a request and that of its reply. */
const requests = Array.from(
  blockOf("requests").matchAll(/^(\w+) (\{.*\})\n→ (\{.*\})$/gm),
  ([, of = "", request = "", reply = ""]) => ({ of, request, reply }),
);

const play = (userId: string, steps: readonly { of: string; request: string }[]): Promise<ToolResult> =>
  runtime.call(
    "Puppet",
    steps.map(({ of, request }) => ({ ask: request, of })),
    { userId },
  );

test("each request of the example is replied to as the page says, and the last one ends the call", async () => {
  expect(requests.length * 2).toBe(blockOf("requests").split("\n").length);
  const replies = requests.map(({ reply }) => JSON.parse(reply) as unknown);
  const [denial] = replies.slice(-1);
  const whole = await play("alice", requests);
  expect(denial).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED" } });
  expect(whole).toMatchObject(denial as object);
  expect(userFolderNames(folder.path)).toEqual([]);
  expect(await play("bob", requests.slice(0, -1))).toMatchObject({ ok: true, data: replies.slice(0, -1) });
});

/** By the name of a row: what its cell "at most" must say, number by number. */
const forEveryHost: Readonly<Record<string, readonly number[]>> = {
  "a user id": [storeLimits.userIdBytesMax],
  "an input, as JSON": [callLimits.inputBytesMax],
  "an answer": [callLimits.outputBytesMax],
  "requests of one call": [callLimits.hostCallsMax],
  "a file": [storeLimits.fileBytesMax],
  memory: [guestLimits.memoryPagesMax, 64],
  fuel: [guestLimits.fuelPollsMax],
  time: [guestLimits.deadlineMs],
};

const forNodeHost: Readonly<Record<string, readonly number[]>> = {
  "a request": [callLimits.requestBytesMax],
  "an error": [callLimits.outputBytesMax],
  "arrays and objects of an answer in each other": [callLimits.outputDepthMax],
  "files that one call changes": [storeLimits.changesMax],
  "bytes that one call writes": [callLimits.stagedBytesMax],
  "a user's scope, its trash included": [storeLimits.scopeBytesMax],
  "files in one listing": [storeLimits.listEntriesMax],
};

test.for([
  { whose: "every host", line: "Every host has these:", limits: forEveryHost },
  {
    whose: "the Node host",
    line: "A host of plugins that nobody has read has these as well, as the Node host has:",
    limits: forNodeHost,
  },
])("the limits of $whose are those of the code", ({ line, limits }) => {
  const rows = tableUnder(specification, line).map(([what = "", atMost = ""]) => [what, numbersIn(atMost)]);
  expect(Object.fromEntries(rows)).toEqual(limits);
});

test("numbers in the prose are those of the code", () => {
  const prose = specification.replaceAll(/\s+/g, " ");
  expect(prose).toContain(`error codes of the plugin's own, at most ${pluginLimits.errorsMax},`);
  expect(prose).toContain(`1 to ${storeLimits.userIdBytesMax} bytes of UTF-8`);
  expect(prose).toContain(`at most ${callLimits.inputBytesMax / 1024} KiB (\`INPUT_INVALID\`)`);
  expect(prose).toContain(`an output over ${callLimits.outputBytesMax / 1024} KiB`);
  expect(prose).toContain(`**Paths** are 1 to ${storeLimits.pathCharsMax} characters`);
  expect(prose).toContain(`at most ${storeLimits.fileBytesMax / 1024 ** 2} MiB is refused`);
  expect(prose).toContain(`Of a name over ${storeLimits.folderNameBytesMax} characters`);
});

/** `524,288 bytes` and the like. Numbers inside names of a limit are none. */
function numbersIn(cell: string): number[] {
  const plain = cell.replaceAll(/`[^`]*`/g, "");
  return Array.from(plain.matchAll(/\d[\d,]*/g), ([digits]) => Number(digits.replaceAll(",", "")));
}
