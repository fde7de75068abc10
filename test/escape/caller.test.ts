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

const inputs: { name: string; input: unknown; code: string; says?: string }[] = [
  { name: "nothing", input: undefined, code: "INPUT_INVALID" },
  { name: "a function", input: () => upsert, code: "INPUT_INVALID" },
  { name: "a symbol", input: Symbol("x"), code: "INPUT_INVALID" },
  { name: "a bigint", input: 1n, code: "INPUT_INVALID" },
  { name: "a circle", input: circular, code: "INPUT_INVALID" },
  { name: "a toJSON that throws", input: { toJSON: () => JSON.parse("{") as unknown }, code: "INPUT_INVALID" },
  { name: "a toJSON that returns nothing", input: { toJSON: () => undefined }, code: "INPUT_INVALID" },
  { name: "a revoked proxy", input: revokedProxy(), code: "INPUT_INVALID" },
  { name: "half a megabyte", input: { ...upsert, body: "x".repeat(600_000) }, code: "INPUT_INVALID", says: "524288" },
  { name: "5,000 nested arrays", input: JSON.parse("[".repeat(5000) + "]".repeat(5000)), code: "INPUT_INVALID" },
  { name: "an empty object", input: {}, code: "INPUT_INVALID" },
];

function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

test.for(inputs)("$name as input is $code", async ({ input, code, says = "" }) => {
  const result = await runtime.call("UpdateUserMemory", input, { userId: "alice" });
  expect(result).toMatchObject({ ok: false, error: { code, blame: "caller", message: expect.stringContaining(says) } });
  expect(userFolderNames(folder.path)).toEqual([]);
});

const contexts: { name: string; ctx: unknown; code: string }[] = [
  { name: "nothing", ctx: undefined, code: "USER_REQUIRED" },
  { name: "null", ctx: null, code: "USER_REQUIRED" },
  { name: "an empty object", ctx: {}, code: "USER_REQUIRED" },
  { name: "a null user", ctx: { userId: null }, code: "USER_REQUIRED" },
  { name: "a number", ctx: { userId: 7 }, code: "USER_INVALID" },
  { name: "an array of one id", ctx: { userId: ["alice"] }, code: "USER_INVALID" },
  { name: "an object that reads as an id", ctx: { userId: { toString: () => "alice" } }, code: "USER_INVALID" },
  { name: "a lone surrogate", ctx: { userId: "\ud800" }, code: "USER_INVALID" },
  { name: "a C1 control character", ctx: { userId: "a\u0085b" }, code: "USER_INVALID" },
];

test.for(contexts)("$name as context is $code", async ({ ctx, code }) => {
  const result = await runtime.call("UpdateUserMemory", upsert, ctx as CallContext);
  expect(result).toMatchObject({ ok: false, error: { code, blame: "caller" } });
  expect(userFolderNames(folder.path)).toEqual([]);
});

test.for(
  ["", "toString", "__proto__", "updateusermemory", "PromptIndex", "update_user_memory"].map((tool) => ({ tool })),
)('the tool "$tool" is TOOL_UNKNOWN', async ({ tool }) => {
  const result = await runtime.call(tool, upsert, { userId: "alice" });
  expect(result).toMatchObject({
    ok: false,
    error: { code: "TOOL_UNKNOWN", message: expect.stringContaining("ReadUserMemory") },
  });
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

test.for([
  { name: "no options", options: {} },
  { name: "an empty data folder", options: { dataDir: "" } },
  { name: "zero threads", options: { dataDir: "data", threadsMax: 0 } },
  { name: "half a thread", options: { dataDir: "data", threadsMax: 1.5 } },
  { name: "a clock that is a number", options: { dataDir: "data", clock: 5 } },
  { name: "a log that is a string", options: { dataDir: "data", onLog: "x" } },
  { name: "one plugin without an array", options: { dataDir: "data", plugins: "x.wasm" } },
  { name: "a policy that is a number", options: { dataDir: "data", policy: 1 } },
  { name: "a policy that is null", options: { dataDir: "data", policy: null } },
  { name: "a policy without name", options: { dataDir: "data", policy: "" } },
])("createRuntime refuses $name as a programming error", async ({ options }) => {
  await expect(createRuntime(options as { dataDir: string })).rejects.toThrow(
    /dataDir|threadsMax|clock|onLog|plugins|policy/,
  );
});
