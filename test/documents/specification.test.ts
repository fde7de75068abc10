/** The specification's examples, executed, and its numbers. */
import { readFileSync } from "node:fs";

import { createRuntime } from "memcell";
import type { ToolResult } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import { showsConfigKey } from "../../shared/abi.ts";
import { errorCodes } from "../../shared/errors.ts";
import type { ErrorCode } from "../../shared/errors.ts";
import {
  auditLimits,
  callLimits,
  guestLimits,
  pluginLimits,
  promptLimits,
  roleLimits,
  storeLimits,
} from "../../shared/limits.ts";
import { manifestSchema, reportableCodes } from "../../shared/manifest.ts";
import type { PluginError } from "../../shared/manifest.ts";
import { safeParse } from "../../shared/zod.ts";
import { transferLimits } from "../stage/archive.ts";
import { policyFor } from "../support/policy-for.ts";
import { manifestOf } from "../support/reseal-plugin.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin, testPlugin } from "../support/test-plugin.ts";
import { userFolderNames } from "../support/user-files.ts";
import {
  blocksIn,
  codeIn,
  codeListsIn,
  numbersIn,
  sectionOf,
  sizesIn,
  tableBelow,
  tablesIn,
} from "./markdown-table.ts";
import { textOf } from "./tracked-files.ts";

const specification = textOf("shared/README.md");
const blockOf = (kind: string): string => blocksIn(specification).find(({ language }) => language === kind)?.text ?? "";

test("the manifest is one, with the figures of the plugin", () => {
  const { version, memoryPages, fuelPolls, deadlineMs } = manifestOf(readFileSync(shippedPlugin("user-memory")));
  expect(JSON.parse(blockOf("json manifest"))).toMatchObject({ version, memoryPages, fuelPolls, deadlineMs });
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
    expect(listsIn("The file")).toContainEqual(cases.toSorted());
  }
});

test("the page lists the codes that a guest may report without having been told one", () => {
  expect(listsIn("The answer")).toContainEqual(reportableCodes.toSorted());
});

/** The lists of error codes in a section, each in the order of the alphabet. */
const listsIn = (heading: string): string[][] =>
  codeListsIn(sectionOf(specification, heading)).map((codes) => codes.toSorted());

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

test("an answer that says what it shows is taken, and its caller does not get that", async () => {
  const { shows, ...answer } = JSON.parse(blockOf("json shows")) as { readonly shows: readonly string[] };
  expect(shows).toEqual(["memory:editor.md"]);
  const output = blockOf("json shows");
  expect(await runtime.call("Puppet", [{ output }], { userId: "alice" })).toEqual(answer);
  expect(await runtime.call("Puppet", [{ config: showsConfigKey }], { userId: "alice" })).toMatchObject({
    data: ["1"],
  });
  expect(numbersOf("The answer")).toContain(callLimits.hostCallsMax);
});

interface Limit {
  /** The numbers of the cell "at most". */
  readonly atMost: readonly number[];
  /** The codes of the cell "beyond it". */
  readonly codes: readonly ErrorCode[];
}

const limit = (atMost: number | readonly number[], ...codes: readonly ErrorCode[]): Limit => ({
  atMost: typeof atMost === "number" ? [atMost] : atMost,
  codes,
});

/** By the name of a row. */
const forEveryHost: Readonly<Record<string, Limit>> = {
  "a user id": limit(storeLimits.userIdBytesMax, "USER_INVALID"),
  "an input, as JSON": limit(callLimits.inputBytesMax, "INPUT_INVALID"),
  "an answer": limit(callLimits.outputBytesMax, "OUTPUT_TOO_LARGE"),
  "requests of one call": limit(callLimits.hostCallsMax, "CAPABILITY_DENIED"),
  "a file": limit(storeLimits.fileBytesMax, "QUOTA_EXCEEDED", "STORAGE_UNSAFE"),
  memory: limit([guestLimits.memoryPagesMax, 64], "MEMORY_EXCEEDED"),
  fuel: limit(guestLimits.fuelPollsMax, "FUEL_EXHAUSTED"),
  time: limit(guestLimits.deadlineMs, "DEADLINE_EXCEEDED"),
};

const forNodeHost: Readonly<Record<string, Limit>> = {
  "a request": limit(callLimits.requestBytesMax),
  "an error": limit(callLimits.outputBytesMax, "OUTPUT_INVALID"),
  "nested arrays and objects of an answer": limit(callLimits.outputDepthMax, "OUTPUT_INVALID"),
  "files that one call changes": limit(storeLimits.changesMax, "QUOTA_EXCEEDED"),
  "bytes that one call writes": limit(callLimits.stagedBytesMax, "QUOTA_EXCEEDED"),
  "a user's scope, its trash included": limit(storeLimits.scopeBytesMax, "QUOTA_EXCEEDED"),
  "files of a scope outside its trash, and in one listing": limit(storeLimits.listEntriesMax, "QUOTA_EXCEEDED"),
  "files in a scope's trash": limit(storeLimits.trashFilesMax, "QUOTA_EXCEEDED"),
};

test("the limits of every host, and those that the Node host adds, are those of the code", () => {
  const tables = tablesIn(sectionOf(specification, "Limits")).map((rows) =>
    Object.fromEntries(
      rows.map(([what = "", atMost = "", beyond = ""]) => [what, { atMost: numbersIn(atMost), codes: codeIn(beyond) }]),
    ),
  );
  expect(tables).toEqual([forEveryHost, forNodeHost]);
});

/** By section: the sizes in bytes that it names. */
const sizesBySection: Readonly<Record<string, readonly number[]>> = {
  "The file": [pluginLimits.instructionsBytesMax, pluginLimits.documentationBytesMax],
  Roles: [promptLimits.frameBytesMax, promptLimits.bytesMax],
  "A call": [storeLimits.userIdBytesMax, callLimits.inputBytesMax],
  "The answer": [callLimits.showsBytesMax, callLimits.outputBytesMax],
  "A host's own words": [storeLimits.userIdBytesMax, callLimits.inputBytesMax],
  "The data folder": [storeLimits.fileBytesMax],
};

test.for(Object.entries(sizesBySection))("the sizes in section %s are those of the code", ([heading, sizes]) => {
  expect(sizesIn(sectionOf(specification, heading))).toEqual(sizes);
});

test("no other section but the limits names a size", () => {
  const sections = specification.matchAll(/^#{2,} (.*)$/gm);
  const named = Array.from(sections, ([, heading = ""]) => heading).filter(
    (heading) => !(heading in sizesBySection) && heading !== "Limits" && ownSizesOf(heading).length > 0,
  );
  expect(named).toEqual([]);
});

/** Without the sections below it. */
function ownSizesOf(heading: string): number[] {
  const [own = ""] = sectionOf(specification, heading).split(/^#+ /m);
  return sizesIn(own);
}

const numbersOf = (heading: string): number[] => numbersIn(sectionOf(specification, heading));

test("the page names the other limits of the code", () => {
  expect(numbersOf("The file")).toContain(pluginLimits.errorsMax);
  for (const number of [storeLimits.pathBytesMax, storeLimits.pathCharsMax])
    expect(numbersOf("Capabilities")).toContain(number);
  expect(numbersOf("The data folder")).toContain(storeLimits.folderNameBytesMax);
  for (const number of [promptLimits.linesMax, promptLimits.frameLinesMax, roleLimits.toldMax]) {
    expect(numbersOf("Roles")).toContain(number);
  }
});

test("the limits of an export and an import in host/README.md are those of the code", () => {
  const { zipEntriesMax, zipBytesMax, wholeBytesMax, textBytesMax, foreignFilesMax } = transferLimits;
  const [whole, texts] = [wholeBytesMax, textBytesMax].map((each) => `${each / 1024 ** 2} MiB`);
  const [entries, files] = [zipEntriesMax, auditLimits.recordFilesMax].map((each) => each.toLocaleString("en"));
  const rows = tableBelow(textOf("host/README.md"), "Limits").map(([what, value]) => [what, value]);
  expect(rows).toContainEqual([
    "a zip file that is exported: entries, bytes",
    `${entries}, ${(zipBytesMax + 2) / 1024 ** 3} GiB`,
  ]);
  expect(rows).toContainEqual([
    "an import: files of a scope with its trash; JSON, or a file of another program; texts that move in",
    `${files}; ${whole}; ${texts}`,
  ]);
  expect(foreignFilesMax).toBe(auditLimits.recordFilesMax);
});
