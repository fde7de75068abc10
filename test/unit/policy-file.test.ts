/** Invalid policy files and objects are refused with the present and the allowed value, without waiting for them. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

import { createRuntime } from "memcell";
import type { PolicyFile } from "memcell";
import { afterAll, expect, test } from "vitest";

import { loadPolicy } from "../../host/plugins/policy/load-policy.ts";
import { policyLimits } from "../../shared/limits.ts";
import { asToolError } from "../stage/store.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const [one = "", other = ""] = ["1", "2"].map((digit) => digit.repeat(64));
const policyOf = (plugins: PolicyFile["plugins"], more: Partial<PolicyFile> = {}): PolicyFile => ({
  version: 1,
  plugins,
  ...more,
});

function write(name: string, content: string | object | Uint8Array): string {
  const file = join(folder.path, name);
  const isText = typeof content === "string" || content instanceof Uint8Array;
  writeFileSync(file, isText ? content : JSON.stringify(content));
  return file;
}

const lockOf = (plugins: Record<string, string>): object => ({
  version: 1,
  plugins: Object.fromEntries(
    Object.entries(plugins).map(([name, sha256]) => [name, { version: "0.1.0", sha256, bytes: 1 }]),
  ),
});

const refusalOf = async (source: string | PolicyFile): Promise<string> => {
  const error: unknown = await loadPolicy(source).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "PLUGIN_REFUSED" });
  const { message } = asToolError(error, "load");
  expect(message).not.toContain(folder.path);
  expect(message.length).toBeLessThan(600);
  return message;
};

const texts: { readonly name: string; readonly content: string | Uint8Array; readonly says: string }[] = [
  { name: "empty", content: "", says: "it is not JSON" },
  { name: "comments", content: '{"version":1,"plugins":{}} // all', says: "it is not JSON" },
  { name: "not UTF-8", content: Uint8Array.of(0x22, 0xff, 0x22), says: "it is not UTF-8" },
  { name: "a key twice", content: '{"version":1,"plugins":{},"plugins":{}}', says: 'it has the key "plugins" twice' },
  {
    name: "a key twice, once with an escape",
    content: '{"version":1,"plugins":{"a":{"tools":{}},"\\u0061" :{"tools":{}}}}',
    says: 'it has the key "a" twice',
  },
  {
    name: "a key twice after a text like a key",
    content: '{"version":1,"$schema":"{\\"version\\":","plugins":{},"version":1}',
    says: 'it has the key "version" twice',
  },
  {
    name: "the prototype's key",
    content: '{"version":1,"plugins":{"__proto__":{"tools":{}}}}',
    says: 'it has the key "__proto__"',
  },
  {
    name: "the prototype's key, escaped",
    content: '{"version":1,"plugins":{"a":{"tools":{"\\u005f_proto__":{}}}}}',
    says: 'it has the key "__proto__"',
  },
  {
    name: "an infinite limit",
    content: '{"version":1,"limits":{"deadlineMs":1e999},"plugins":{}}',
    says: "limits.deadlineMs is Infinity, allowed: a whole number from 1 to 10000",
  },
  { name: "17 levels", content: `${"[".repeat(17)}${"]".repeat(17)}`, says: "it is 17 levels deep, at most 16" },
  { name: "500,000 levels", content: "[".repeat(500_000), says: "levels deep, at most 16 allowed" },
  {
    name: "too large",
    content: " ".repeat(policyLimits.fileBytesMax + 1),
    says: `it is ${policyLimits.fileBytesMax + 1} bytes, at most ${policyLimits.fileBytesMax} allowed`,
  },
];

test.for(texts)("refuses a policy file: $name", async ({ content, says }, { task }) => {
  expect(await refusalOf(write(`${task.id}.json`, content))).toContain(says);
});

test("different objects can have equal keys, and a string is no key", async () => {
  const file = write(
    "equal.json",
    '{"version":1,"$schema":"version","plugins":{"a":{"tools":{}},"tools":{"tools":{}}}}',
  );
  expect([...(await loadPolicy(file)).plugins.keys()]).toEqual(["a", "tools"]);
});

test("refuses what is not a regular file without waiting for it or reading it", async () => {
  const pipe = join(folder.path, "pipe.json");
  execFileSync("mkfifo", [pipe]);
  expect(await refusalOf(pipe)).toContain('Cannot use policy "pipe.json": it is not a regular file');
  mkdirSync(join(folder.path, "folder.json"));
  expect(await refusalOf(join(folder.path, "folder.json"))).toContain("it is not a regular file");
  expect(await refusalOf(join(folder.path, "absent.json"))).toContain("it cannot be read");
  const large = write("large.json", "");
  truncateSync(large, 2 ** 40);
  expect(await refusalOf(large)).toContain(`it is ${2 ** 40} bytes`);
  const locked = write("piped-lock.json", policyOf({}, { lockFile: "pipe.json" }));
  expect(await refusalOf(locked)).toContain('its lock file "pipe.json" cannot be used: it is not a regular file');
});

const circular: Record<string, unknown> = { version: 1 };
circular["plugins"] = circular;

test.for<{ name: string; object: unknown }>([
  { name: "refers to itself", object: circular },
  { name: "has a BigInt", object: { version: 1n, plugins: {} } },
  { name: "serialises to nothing", object: { toJSON: () => undefined } },
  { name: "inherits what it grants", object: Object.create(policyOf({ a: { tools: {} } })) },
  { name: "has a map of plugins", object: [new Map()] },
])("refuses an object that $name", async ({ object }) => {
  await refusalOf(object as PolicyFile);
});

test("a lock file, relative to the policy's folder, pins the plugins that the policy names", async () => {
  mkdirSync(join(folder.path, "locks"));
  write("locks/plugins.json", lockOf({ a: one, unused: other }));
  const lockFile = "locks/plugins.json";
  const locked = await loadPolicy(write("locked.json", policyOf({ a: { tools: {} } }, { lockFile })));
  expect(locked.plugins.get("a")?.sha256).toEqual([one]);
  expect([...locked.plugins.keys()]).toEqual(["a"]);
  const both = policyOf({ a: { sha256: [other, one], tools: {} } }, { lockFile });
  expect((await loadPolicy(write("both.json", both))).plugins.get("a")?.sha256).toEqual([one]);
});

test("the lock file of a policy object is relative to the working directory", async () => {
  const lockFile = relative(process.cwd(), fileURLToPath(new URL("../../build/plugins.lock.json", import.meta.url)));
  const policy = await loadPolicy(policyOf({ "user-memory": { tools: {} } }, { lockFile }));
  expect(policy.plugins.get("user-memory")?.sha256).toHaveLength(1);
});

test.for<{ name: string; lock: string | object; plugin?: PolicyFile["plugins"][string]; says: string }>([
  { name: "has another hash", lock: lockOf({ a: other }), says: `to ${one}, its lock file to ${other}` },
  { name: "is empty", lock: "", says: "it is not JSON" },
  { name: "is of another version", lock: { version: 2, plugins: {} }, says: "version is 2, allowed: 1" },
  { name: "has an unknown key", lock: { ...lockOf({ a: one }), at: 1 }, says: 'it has the key "at"' },
  {
    name: "has the plugin twice",
    lock: JSON.stringify(lockOf({ a: one, b: one })).replace('"b"', '"a"'),
    says: 'it has the key "a" twice',
  },
  {
    name: "has half a hash",
    lock: lockOf({ a: "1".repeat(32) }),
    says: "plugins.a.sha256 is",
  },
])("refuses a policy with a lock file that $name", async ({ lock, says }, { task }) => {
  write(`${task.id}.lock.json`, lock);
  const policy = policyOf({ a: { sha256: [one], tools: {} } }, { lockFile: `${task.id}.lock.json` });
  expect(await refusalOf(write(`${task.id}.json`, policy))).toContain(says);
});

test("a lock file does not pin the name of a prototype's property", async () => {
  write("empty.lock.json", lockOf({}));
  const policy = policyOf({ constructor: { tools: {} } }, { lockFile: "empty.lock.json" });
  expect((await loadPolicy(write("constructor.json", policy))).plugins.get("constructor")?.sha256).toEqual([]);
});

test("refuses only the plugin that the lock file does not pin, and says what to do", async () => {
  write("half.lock.json", lockOf({ "user-memory": sha256Of(shippedPlugin("user-memory")) }));
  const [plugin, unpinned] = [shippedPlugin("user-memory"), shippedPlugin("journal")];
  const { plugins } = policyFor([plugin, unpinned]);
  const tools = Object.entries(plugins).map(([name, granted]) => [name, { tools: granted.tools }]);
  const policy = write("half.json", policyOf(Object.fromEntries(tools), { lockFile: "half.lock.json" }));
  const dataDir = join(folder.path, "data");
  await using runtime = await createRuntime({ dataDir, plugins: [plugin], policy });
  expect(runtime.tools().map(({ name }) => name)).toContain("ReadUserMemory");
  await expect(createRuntime({ dataDir, plugins: [plugin, unpinned], policy })).rejects.toMatchObject({
    code: "PLUGIN_REFUSED",
    message: expect.stringMatching(
      /"journal.*lock file does not pin it: in a clone "npm run build" does, .*[0-9a-f]{64}/,
    ),
  });
});

const sha256Of = (file: string): string => createHash("sha256").update(readFileSync(file)).digest("hex");
