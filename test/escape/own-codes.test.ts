/** Plugins with their own error codes: each can report only those that its manifest declares. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, errorTable } from "memcell";
import type { ErrorCode, Runtime, ToolFailure } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import type { PluginError } from "../../shared/manifest.ts";
import { roleSchemas } from "../../shared/roles.ts";
import { toJSONSchema } from "../../shared/zod.ts";
import { assembleGuest } from "../support/assemble-guest.ts";
import { writeCodedPuppet, writeCodedReporter } from "../support/coded-plugins.ts";
import { guestManifest } from "../support/guest-manifest.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { userFolderNames } from "../support/user-files.ts";
import { guestText } from "../support/write-guest.ts";

const ofPuppet: PluginError[] = [
  { code: "SEAT_TAKEN", of: "NAME_CONFLICT", meaning: "Somebody sits there." },
  { code: "ROOM_FULL", of: "QUOTA_EXCEEDED", meaning: "No seat is left." },
];
const ofReporter: PluginError[] = [
  { code: "SEAT_TAKEN", of: "ENTRY_UNREADABLE", meaning: "Somebody sits in front of it." },
  { code: "SEAT_UNKNOWN", of: "ENTRY_NOT_FOUND", meaning: "There is no such seat." },
];

const folder = temporaryFolder();
let runtime: Runtime;
beforeAll(async () => {
  const plugins = [writeCodedPuppet(folder.path, ofPuppet), writeCodedReporter(folder.path, "Report", ofReporter)];
  runtime = await createRuntime({
    dataDir: join(folder.path, "data"),
    plugins,
    policy: policyFor(plugins),
    threadsMax: 1,
  });
});
afterAll(async () => {
  await runtime.close();
  folder[Symbol.dispose]();
});

const failure = (code: string, more: object = {}): object => ({ ok: false, error: { code, message: "So", ...more } });
const ctx = { userId: "alice" };
const report = { Report: (answer: object) => answer, Puppet: (answer: object) => [{ fail: JSON.stringify(answer) }] };
type Reporting = keyof typeof report;

async function reported(tool: Reporting, answer: object): Promise<ToolFailure> {
  const result = await runtime.call(tool, report[tool](answer), ctx);
  if (result.ok) throw new Error("The call succeeded");
  return result.error;
}

test.for<{ tool: Reporting; code: string; of: ErrorCode }>([
  { tool: "Puppet", code: "SEAT_TAKEN", of: "NAME_CONFLICT" },
  { tool: "Puppet", code: "ROOM_FULL", of: "QUOTA_EXCEEDED" },
  { tool: "Report", code: "SEAT_TAKEN", of: "ENTRY_UNREADABLE" },
  { tool: "Report", code: "SEAT_UNKNOWN", of: "ENTRY_NOT_FOUND" },
])("$code of $tool is a case of $of and has the blame of $of", async ({ tool, code, of }) => {
  const { blame, retryable } = errorTable[of];
  expect(await reported(tool, failure(code))).toEqual({ code, of, message: "So", blame, retryable });
  const issues = [{ field: "seat", value: "A1", allowed: "a free one" }];
  expect(await reported(tool, failure(code, { issues }))).toMatchObject({ code, of, issues });
});

test.for<{ tool: Reporting; code: string }>([
  { tool: "Puppet", code: "SEAT_UNKNOWN" },
  { tool: "Report", code: "ROOM_FULL" },
  { tool: "Report", code: "STORAGE_FULL" },
  { tool: "Puppet", code: "BUSY" },
  { tool: "Puppet", code: "CONSTRUCTOR" },
])("$tool may not report $code", async ({ tool, code }) => {
  expect(await reported(tool, failure(code))).toEqual({
    code: "OUTPUT_INVALID",
    message: `Cannot use the answer of ${tool}: it reports ${code}, a code that it neither declares nor received`,
    blame: "guest",
    retryable: false,
  });
});

const ofHost = [{ of: "NAME_CONFLICT" }, { of: "STORAGE_FULL" }, { blame: "host" }, { retryable: true }];
test.for(ofHost)("a guest that sets %j in its failure is OUTPUT_INVALID", async (more) => {
  const error = await reported("Puppet", failure("SEAT_TAKEN", more));
  expect(error).toMatchObject({ code: "OUTPUT_INVALID", blame: "guest" });
  expect(error).not.toHaveProperty("of");
});

test("a code of the table has no `of`, even from a plugin that has its own codes", async () => {
  const error = await reported("Puppet", failure("NAME_CONFLICT"));
  expect(error).toEqual({ code: "NAME_CONFLICT", message: "So", blame: "caller", retryable: false });
});

test("a call that ends with the plugin's own code changes nothing, and is a denial if it was denied", async () => {
  const write = { ask: { scope: "memory", path: "a.md", content: "a" }, of: "store_write" };
  const climb = { ask: { scope: "memory", path: "../a.md" }, of: "store_read" };
  const end = { fail: JSON.stringify(failure("SEAT_TAKEN")) };
  expect(await runtime.call("Puppet", [write, end], ctx)).toMatchObject({ error: { code: "SEAT_TAKEN" } });
  expect(await runtime.call("Puppet", [write, climb, end], ctx)).toMatchObject({
    error: { code: "CAPABILITY_DENIED" },
  });
  expect(userFolderNames(join(folder.path, "data"))).toEqual([]);
});

const told = (): unknown => runtime.tools().map(({ name, errors }) => [name, errors]);

test("each tool is listed with its plugin's codes, and a caller that changes the list has no effect", async () => {
  const expected = [
    ...["Puppet", "ReadingPuppet", "ListingPuppet", "TwoScopesPuppet"].map((name) => [name, ofPuppet]),
    ["Report", ofReporter],
  ];
  expect(told()).toEqual(expected);
  for (const { errors = [] } of runtime.tools())
    (errors as PluginError[]).push({ ...ofPuppet[0], code: "BUSY" } as PluginError);
  expect(told()).toEqual(expected);
  expect(await reported("Puppet", failure("BUSY"))).toMatchObject({ code: "OUTPUT_INVALID" });
});

test("the error of a tool that only the host calls also carries the plugin's code and the table's", async () => {
  const errors: PluginError[] = [{ code: "SEAT_LEFT_EMPTY", of: "ENTRY_NOT_FOUND", meaning: "Nobody sits there." }];
  const [forHost, forModel] = guestManifest("index", { PromptIndex: "fail", Succeed: "succeed" }).tools;
  const [input, output] = [roleSchemas.index.input, roleSchemas.index.output].map((schema) => toJSONSchema(schema));
  const tools = [{ ...forHost, audience: "host", role: "index", input, output }, forModel];
  const manifest = { ...guestManifest("index", {}), tools, errors };
  // Both codes have the same length, so the text's offsets stay valid.
  const text = guestText("responder").replace("ENTRY_NOT_FOUND", "SEAT_LEFT_EMPTY");
  const file = join(folder.path, "index.wasm");
  writeFileSync(file, assembleGuest(text, [JSON.stringify(manifest)]));
  await using own = await createRuntime({
    dataDir: folder.path,
    plugins: [file],
    policy: policyFor([file]),
    threadsMax: 1,
  });
  await expect(own.memoryIndex(ctx)).rejects.toMatchObject({
    name: "ToolError",
    code: "SEAT_LEFT_EMPTY",
    of: "ENTRY_NOT_FOUND",
    tableCode: "ENTRY_NOT_FOUND",
    blame: "caller",
    retryable: false,
  });
  await expect(own.memoryIndex({ userId: "" })).rejects.toMatchObject({ code: "USER_INVALID", of: undefined });
});
