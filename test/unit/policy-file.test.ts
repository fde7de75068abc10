/** A policy that cannot mean what it says is refused, with the present and the allowed value, and nobody waits for it. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

import { Ajv2020 } from "ajv/dist/2020.js";
import { createRuntime, memoryStore } from "memcell";
import type { PolicyFile, RuntimeOptions } from "memcell";
import { afterAll, expect, test } from "vitest";

import { policyFileSchema } from "../../host/plugins/policy/policy-schema.ts";
import { policyLimits } from "../../shared/limits.ts";
import { toJSONSchema } from "../../shared/zod.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const [one = "", other = ""] = ["1", "2"].map((digit) => digit.repeat(64));
const tool = { rights: ["read"], scopes: ["memory"] };
const policyOf = (plugins: object, more: object = {}): object => ({ version: 1, plugins, ...more });

function write(name: string, content: string | object): string {
  const file = join(folder.path, name);
  const isText = typeof content === "string" || content instanceof Uint8Array;
  writeFileSync(file, isText ? content : JSON.stringify(content));
  return file;
}

/** The policy is read before any plugin. */
const opened = (policy: string | object, plugins: RuntimeOptions["plugins"] = []) =>
  createRuntime({ store: memoryStore(), plugins, policy: policy as PolicyFile, threadsMax: 1 });

async function refusalOf(policy: string | object): Promise<string> {
  const error: unknown = await opened(policy).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "PLUGIN_REFUSED" });
  const { message } = error as Error;
  expect(message).not.toContain(folder.path);
  expect(message.length).toBeLessThan(600);
  return message;
}

const published = (name: string): object =>
  JSON.parse(readFileSync(new URL(import.meta.resolve(name)), "utf8")) as object;
const isValid = new Ajv2020({ strict: true }).compile(published("memcell/policy.schema.json"));

// After a change, `npx vitest run -u` with this file writes it.
test("policy.schema.json is generated from the schema that the host checks with", async () => {
  const { "~standard": _, ...schema } = toJSONSchema(policyFileSchema, { io: "input", target: "draft-2020-12" });
  const text = `${JSON.stringify({ title: "A memcell policy", ...schema }, null, 2)}\n`;
  await expect(text).toMatchFileSnapshot("../../host/plugins/policy/policy.schema.json");
});

test("the default policy is valid and names its schema", () => {
  const policy = published("memcell/default-policy.json");
  expect(isValid(policy) || isValid.errors).toBe(true);
  expect(policy).toMatchObject({ $schema: "./policy.schema.json" });
});

test.for<readonly [name: string, policy: object]>([
  ["nothing granted", policyOf({})],
  ["the longest history", policyOf({}, { history: { daysMax: 3_650, bytesMax: 268_435_456 } })],
  ["a plugin and a tool named constructor", policyOf({ constructor: { tools: { constructor: tool } } })],
  ["a pinned file", policyOf({ a: { sha256: [one], tools: {} } })],
])("schema and host accept %s", async ([, policy]) => {
  expect(isValid(policy) || isValid.errors).toBe(true);
  await (await opened(policy)).close();
});

const whole = (from: number, to: number): string => `allowed: a whole number from ${from} to ${to}`;
const ofTool = (changes: object): object => policyOf({ a: { tools: { T: { ...tool, ...changes } } } });

test.for<readonly [name: string, policy: object, says: string]>([
  ["nothing", {}, "version is missing, allowed: 1"],
  ["an unknown key", policyOf({}, { allow: [] }), 'it has the key "allow", allowed'],
  ["a history of no days", policyOf({}, { history: { daysMax: 0 } }), `history.daysMax is 0, ${whole(1, 3_650)}`],
  ["a higher limit", policyOf({}, { limits: { memoryPages: 513 } }), `limits.memoryPages is 513, ${whole(1, 512)}`],
  ["a path as a scope", ofTool({ scopes: ["../x"] }), 'scopes[0] is "../x", allowed: a scope\'s name'],
  ["all tools at once", policyOf({ a: { tools: { "*": tool } } }), 'plugins.a.tools has the key "*", allowed: an obj'],
  ["no hash at all", policyOf({ a: { sha256: [], tools: {} } }), "plugins.a.sha256 is an empty array, allowed: at lea"],
  ["an unknown right", ofTool({ rights: ["read", "network"] }), 'plugins.a.tools.T.rights[1] is "network", allowed:'],
  [
    "a hash in capitals",
    policyOf({ "a-b": { sha256: ["A".repeat(64)], tools: {} } }),
    `plugins["a-b"].sha256[0] is "${"A".repeat(60)}…", allowed: a SHA-256 in lower-case hex`,
  ],
  ["a lock file without name", policyOf({}, { lockFile: "" }), 'lockFile is ""'],
  [
    "an unknown trust",
    policyOf({ a: { trust: { active: "trusted" }, tools: {} } }),
    "allowed: one of owner_edit, direct_user",
  ],
])("schema and host refuse %s, and the host says what is allowed", async ([, policy, says]) => {
  // As a file has it: without what is undefined.
  expect(isValid(JSON.parse(JSON.stringify(policy)))).toBe(false);
  expect(await refusalOf(policy)).toContain(says);
});

test("no write waits above where it is active", async () => {
  expect(await refusalOf(policyOf({ a: { trust: { pending: "direct_user" }, tools: {} } }))).toContain("pending");
});

const { fileBytesMax } = policyLimits;

test.for<readonly [name: string, content: string | Uint8Array, says: string]>([
  ["is not UTF-8", Uint8Array.of(0x22, 0xff, 0x22), "it is not UTF-8"],
  ["has a key twice", '{"version":1,"plugins":{},"plugins":{}}', 'it has the key "plugins" twice'],
  ["has the prototype's key", '{"version":1,"plugins":{"__proto__":{"tools":{}}}}', 'it has the key "__proto__"'],
  [
    "has an infinite limit",
    '{"version":1,"limits":{"deadlineMs":1e999},"plugins":{}}',
    "limits.deadlineMs is Infinity",
  ],
  ["has 500,000 levels", "[".repeat(500_000), "levels deep, at most 16 allowed"],
  ["is too large", " ".repeat(fileBytesMax + 1), `it is ${fileBytesMax + 1} bytes, at most ${fileBytesMax} allowed`],
])("refuses a policy file that %s", async ([, content, says], { task }) => {
  expect(await refusalOf(write(`${task.id}.json`, content))).toContain(says);
});

test("refuses what is not a regular file without waiting for it or reading it", async () => {
  const pipe = join(folder.path, "pipe.json");
  execFileSync("mkfifo", [pipe]);
  expect(await refusalOf(pipe)).toContain('Cannot use policy "pipe.json": it is not a regular file');
  expect(await refusalOf(join(folder.path, "absent.json"))).toContain("it cannot be read");
  const locked = write("piped-lock.json", policyOf({}, { lockFile: "pipe.json" }));
  expect(await refusalOf(locked)).toContain('its lock file "pipe.json" cannot be used: it is not a regular file');
});

const circular: Record<string, unknown> = { version: 1 };
circular["plugins"] = circular;

test.for<readonly [name: string, object: object]>([
  ["refers to itself", circular],
  ["serialises to nothing", { toJSON: () => undefined }],
  ["inherits what it grants", Object.create(policyOf({ a: { tools: {} } })) as object],
])("refuses an object that %s", async ([, object]) => {
  await refusalOf(object);
});

const lockOf = (plugins: Record<string, string>): object => ({
  version: 1,
  plugins: Object.fromEntries(
    Object.entries(plugins).map(([name, sha256]) => [name, { version: "0.1.0", sha256, bytes: 1 }]),
  ),
});

test.for<readonly [name: string, lock: string | object, says: string]>([
  ["has another hash", lockOf({ a: other }), `to ${one}, its lock file to ${other}`],
  [
    "has the plugin twice",
    JSON.stringify(lockOf({ a: one, b: one })).replace('"b"', '"a"'),
    'it has the key "a" twice',
  ],
  ["has half a hash", lockOf({ a: "1".repeat(32) }), "plugins.a.sha256 is"],
])("refuses a policy with a lock file that %s", async ([, lock, says], { task }) => {
  write(`${task.id}.lock.json`, lock);
  const policy = policyOf({ a: { sha256: [one], tools: {} } }, { lockFile: `${task.id}.lock.json` });
  expect(await refusalOf(write(`${task.id}.json`, policy))).toContain(says);
});

const memory = shippedPlugin("user-memory");
const hash = createHash("sha256").update(readFileSync(memory)).digest("hex");
const granted = policyFor([memory]).plugins["user-memory"]?.tools;

test("a lock file, relative to the policy's folder, pins the plugins that the policy names", async () => {
  mkdirSync(join(folder.path, "locks"));
  write("locks/right.json", lockOf({ "user-memory": hash, unused: other }));
  write("locks/wrong.json", lockOf({ "user-memory": other }));
  const policy = (sha256: string[] | undefined, lockFile: string): string =>
    write("locked.json", policyOf({ "user-memory": { sha256, tools: granted } }, { lockFile: `locks/${lockFile}` }));
  // Of several pins, the lock file's one counts.
  for (const pins of [undefined, [other, hash]]) await (await opened(policy(pins, "right.json"), [memory])).close();
  for (const pins of [undefined, [other, hash]]) {
    await expect(opened(policy(pins, "wrong.json"), [memory])).rejects.toThrow(`the policy pins ${other}`);
  }
});

test("the lock file of a policy object is relative to the working directory", async () => {
  const lockFile = relative(process.cwd(), fileURLToPath(new URL("../../build/plugins.lock.json", import.meta.url)));
  await (await opened(policyOf({ "user-memory": { tools: granted } }, { lockFile }), [memory])).close();
});

test("refuses only the plugin that the lock file does not pin, and says what to do", async () => {
  const journal = shippedPlugin("journal");
  write("half.lock.json", lockOf({ "user-memory": hash }));
  const { plugins } = policyFor([memory, journal]);
  const tools = Object.entries(plugins).map(([name, each]) => [name, { tools: each.tools }]);
  const policy = write("half.json", policyOf(Object.fromEntries(tools) as object, { lockFile: "half.lock.json" }));
  await using runtime = await opened(policy, [memory]);
  expect(runtime.tools().map(({ name }) => name)).toContain("ReadUserMemory");
  await expect(opened(policy, [memory, journal])).rejects.toMatchObject({
    code: "PLUGIN_REFUSED",
    message: expect.stringMatching(
      /"journal.*lock file does not pin it: in a clone "npm run build" does, .*[0-9a-f]{64}/,
    ),
  });
});
