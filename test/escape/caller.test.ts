/** A careless or hostile caller in the same process: every call resolves to a value and creates nothing on disk. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { CallContext, LogEntry, Runtime } from "memcell";
import { afterAll, beforeAll, expect, test } from "vitest";

import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { testPlugin } from "../support/test-plugin.ts";
import { userFolderNames } from "../support/user-files.ts";

const folder = temporaryFolder();
let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ dataDir: folder.path, threadsMax: 1 });
});
afterAll(async () => {
  await runtime.close();
  folder[Symbol.dispose]();
});

const circular: { self?: unknown } = {};
circular.self = circular;
const upsert = { action: "upsert", name: "a", type: "user", description: "d", body: "" };

const inputs: readonly (readonly [name: string, input: unknown, says?: string])[] = [
  ["nothing", undefined],
  ["a function", () => upsert],
  ["a symbol", Symbol("x")],
  ["a bigint", 1n],
  ["a circle", circular],
  ["a toJSON that throws", { toJSON: () => JSON.parse("{") as unknown }],
  ["a toJSON that returns nothing", { toJSON: () => undefined }],
  ["a revoked proxy", revokedProxy()],
  ["half a megabyte", { ...upsert, body: "x".repeat(600_000) }, "524288"],
  ["5,000 nested arrays", JSON.parse("[".repeat(5000) + "]".repeat(5000))],
  ["an empty object", {}],
];

function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

test.for(inputs)("%s as input is INPUT_INVALID", async ([, input, says = ""]) => {
  const result = await runtime.call("UpdateUserMemory", input, { userId: "alice" });
  const error = { code: "INPUT_INVALID", blame: "caller", message: expect.stringContaining(says) as string };
  expect(result).toMatchObject({ ok: false, error });
  expect(userFolderNames(folder.path)).toEqual([]);
});

test.for<readonly [name: string, ctx: unknown, code: string]>([
  ["nothing", undefined, "USER_REQUIRED"],
  ["null", null, "USER_REQUIRED"],
  ["an empty object", {}, "USER_REQUIRED"],
  ["a null user", { userId: null }, "USER_REQUIRED"],
  ["an object that reads as an id", { userId: { toString: () => "alice" } }, "USER_INVALID"],
  ["a C1 control character", { userId: "a\u0085b" }, "USER_INVALID"],
])("%s as context is refused", async ([, ctx, code]) => {
  const result = await runtime.call("UpdateUserMemory", upsert, ctx as CallContext);
  expect(result).toMatchObject({ ok: false, error: { code, blame: "caller" } });
  expect(userFolderNames(folder.path)).toEqual([]);
});

const noTools = ["", "toString", "__proto__", "updateusermemory", "PromptIndex", "update_user_memory"];
test.for(noTools)('the tool "%s" is TOOL_UNKNOWN', async (tool) => {
  const message = expect.stringContaining("ReadUserMemory") as string;
  const result = await runtime.call(tool, upsert, { userId: "alice" });
  expect(result).toMatchObject({ ok: false, error: { code: "TOOL_UNKNOWN", message } });
});

test("a caller that changes a tool's description does not affect the next description", () => {
  const [first] = runtime.tools();
  const before = structuredClone(first?.inputSchema);
  Object.assign(first?.inputSchema ?? {}, { properties: {} });
  expect(first?.inputSchema).not.toEqual(before);
  expect(runtime.tools()[0]?.inputSchema).toEqual(before);
});

const brokenLog = (): never => {
  throw new Error("The log is broken");
};

test("a log that throws does not undo a call", async () => {
  const dataDir = join(folder.path, "log");
  const plugins = [testPlugin("puppet")];
  await using own = await createRuntime({
    dataDir,
    plugins,
    policy: policyFor(plugins),
    threadsMax: 1,
    onLog: brokenLog,
  });
  const write = { of: "store_write", request: JSON.stringify({ scope: "memory", path: "a.md", content: "x" }) };
  const result = await own.call("Puppet", [write, { log: "x", times: 1 }], { userId: "alice" });
  expect(result).toMatchObject({ ok: true });
  expect(userFolderNames(dataDir)).toEqual(["alice"]);
});

test("an invalid clock is INTERNAL, and the log says why", async () => {
  const log: LogEntry[] = [];
  await using own = await createRuntime({
    dataDir: folder.path,
    threadsMax: 1,
    clock: () => NaN,
    onLog: (entry) => log.push(entry),
  });
  const result = await own.call("UpdateUserMemory", upsert, { userId: "alice" });
  expect(result).toMatchObject({ ok: false, error: { code: "INTERNAL", blame: "host" } });
  expect(log).toMatchObject([{ level: "error", text: expect.stringContaining("clock() returned NaN") }]);
});

test("a data folder that cannot be created is a coded error without its path, and the log has the cause", async () => {
  const file = join(folder.path, "file");
  writeFileSync(file, "");
  const log: LogEntry[] = [];
  await using own = await createRuntime({
    dataDir: join(file, "data"),
    threadsMax: 1,
    onLog: (entry) => log.push(entry),
  });
  const result = await own.call("UpdateUserMemory", upsert, { userId: "alice" });
  expect(result).toMatchObject({ ok: false, error: { blame: "host", code: expect.stringMatching(/^STORAGE_/) } });
  expect(JSON.stringify(result)).not.toContain(folder.path);
  expect(log[0]?.text).toContain("ENOTDIR");
});

test.for<readonly [name: string, options: object]>([
  ["no options", {}],
  ["an empty data folder", { dataDir: "" }],
  ["a clock that is a number", { dataDir: "data", clock: 5 }],
  ["a log that is a string", { dataDir: "data", onLog: "x" }],
  ["one plugin without an array", { dataDir: "data", plugins: "x.wasm" }],
  ["a policy that is a number", { dataDir: "data", policy: 1 }],
  ["a policy that is null", { dataDir: "data", policy: null }],
  ["a policy without name", { dataDir: "data", policy: "" }],
])("createRuntime refuses %s as a programming error", async ([, options]) => {
  const named = /dataDir|clock|onLog|plugins|policy/;
  await expect(createRuntime(options as { dataDir: string })).rejects.toThrow(named);
});

/** A limit that is zero, missing or invalid never means "no limit". */
const limits = "threadsMax waitMs deadlineMs fuelPolls queuedCallsMax queuedCallsPerUserMax closeGraceMs".split(" ");
const wrong = [0, -1, 1.5, NaN, Infinity, null, "5", true, {}];

test.for([
  ...limits.flatMap((name) => wrong.map((value) => [name, value] as const)),
  // Longer than a timer allows.
  ...["waitMs", "deadlineMs", "closeGraceMs"].map((name) => [name, 2 ** 31] as const),
])("%s: %s is a RangeError that names the option", async ([name, value]) => {
  const creating = createRuntime({ dataDir: "unused", [name]: value });
  await expect(creating).rejects.toThrow(RangeError);
  await expect(creating).rejects.toThrow(name);
});
