/** What a policy means, and which texts are none. */
import { execFileSync } from "node:child_process";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { PolicyFile } from "memcell";
import { afterAll, expect, test } from "vitest";

import { loadPolicy } from "../../host/policy/load-policy.ts";
import { policyDeviations } from "../../host/policy/policy-deviations.ts";
import { policyLimitsMax } from "../../host/policy/policy-limits.ts";
import { proposePolicy } from "../../host/policy/propose-policy.ts";
import { asToolError } from "../../host/tool-error.ts";
import type { Right } from "../../shared/abi.ts";
import { policyLimits } from "../../shared/limits.ts";
import { guestManifest } from "../support/guest-manifest.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const [one = "", other = ""] = ["1", "2"].map((digit) => digit.repeat(64));
const read: PolicyFile["plugins"][string]["tools"][string] = { rights: ["read"], scopes: ["memory"] };
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

test("what a policy leaves out has the host's own limits, and what it names it lowers", async () => {
  expect((await loadPolicy(policyOf({}))).limits).toEqual(policyLimitsMax);
  const limits = { fuelPolls: 7, hostCalls: undefined };
  expect((await loadPolicy(policyOf({}, { limits }))).limits).toEqual({ ...policyLimitsMax, fuelPolls: 7 });
});

test("a policy is the same whether it is a file or an object, and however it is written", async () => {
  const plugins = {
    a: { sha256: [one, other], tools: { T: { rights: ["write", "read"], scopes: ["x", "memory"] }, U: read } },
    b: { tools: {} },
  } as const;
  const turned = {
    b: { tools: {} },
    a: {
      tools: { U: read, T: { scopes: ["memory", "x", "x"], rights: ["read", "write", "read"] } },
      sha256: [other, one],
    },
  } as const;
  const given = await loadPolicy(policyOf(plugins));
  const file = write("turned.json", JSON.stringify(policyOf(turned, { limits: { deadlineMs: 10_000 } }), null, 4));
  expect(await loadPolicy(file)).toEqual({ ...given, name: "turned.json" });
  expect(given.name).toBe("inline");
});

test.for<{ name: string; policy: PolicyFile }>([
  { name: "a right", policy: policyOf({ a: { tools: { T: { ...read, rights: ["read", "list"] } } } }) },
  { name: "a scope", policy: policyOf({ a: { tools: { T: { ...read, scopes: [] } } } }) },
  { name: "a tool", policy: policyOf({ a: { tools: { T: read, U: read } } }) },
  { name: "a plugin", policy: policyOf({ a: { tools: { T: read } }, b: { tools: {} } }) },
  { name: "a pin", policy: policyOf({ a: { sha256: [one], tools: { T: read } } }) },
  { name: "a limit", policy: policyOf({ a: { tools: { T: read } } }, { limits: { hostCalls: 9 } }) },
])("policies that differ by $name have different hashes", async ({ policy }) => {
  const { sha256 } = await loadPolicy(policyOf({ a: { tools: { T: read } } }));
  expect((await loadPolicy(policy)).sha256).not.toBe(sha256);
});

test("an object that is changed afterwards changes nothing", async () => {
  const tools: Record<string, { rights: Right[]; scopes: string[] }> = { T: { rights: [], scopes: [] } };
  const policy = await loadPolicy(policyOf({ a: { tools } }));
  tools["T"]?.rights.push("write");
  expect(policy.plugins.get("a")?.tools.get("T")).toEqual({ rights: [], scopes: [] });
});

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
    name: "a key twice behind a text like a key",
    content: '{"version":1,"$schema":"{\\"version\\":","plugins":{},"version":1}',
    says: 'it has the key "version" twice',
  },
  {
    name: "the prototype's key",
    content: '{"version":1,"plugins":{"__proto__":{"tools":{}}}}',
    says: 'it has the key "__proto__"',
  },
  {
    name: "the prototype's key in disguise",
    content: '{"version":1,"plugins":{"a":{"tools":{"\\u005f_proto__":{}}}}}',
    says: 'it has the key "__proto__"',
  },
  { name: "17 levels", content: `${"[".repeat(17)}${"]".repeat(17)}`, says: "it is 17 levels deep, at most 16" },
  { name: "500,000 levels", content: "[".repeat(500_000), says: "levels deep, at most 16 allowed" },
  {
    name: "too large",
    content: " ".repeat(policyLimits.fileBytesMax + 1),
    says: `it is ${policyLimits.fileBytesMax + 1} bytes, at most ${policyLimits.fileBytesMax} allowed`,
  },
];

test.for(texts)("a file that is $name is no policy", async ({ content, says }, { task }) => {
  expect(await refusalOf(write(`${task.id}.json`, content))).toContain(says);
});

test("keys of different objects may be equal, and a text is no key", async () => {
  const file = write(
    "equal.json",
    '{"version":1,"$schema":"version","plugins":{"a":{"tools":{}},"tools":{"tools":{}}}}',
  );
  expect([...(await loadPolicy(file)).plugins.keys()]).toEqual(["a", "tools"]);
});

test("a file that is none is refused without waiting for it or reading it", async () => {
  const pipe = join(folder.path, "pipe.json");
  execFileSync("mkfifo", [pipe]);
  expect(await refusalOf(pipe)).toContain('Cannot use policy "pipe.json": it is no regular file');
  mkdirSync(join(folder.path, "folder.json"));
  expect(await refusalOf(join(folder.path, "folder.json"))).toContain("it is no regular file");
  expect(await refusalOf(join(folder.path, "absent.json"))).toContain("it cannot be read");
  const large = write("large.json", "");
  truncateSync(large, 2 ** 40);
  expect(await refusalOf(large)).toContain(`it is ${2 ** 40} bytes`);
  const locked = write("piped-lock.json", policyOf({}, { lockFile: "pipe.json" }));
  expect(await refusalOf(locked)).toContain('its lock file "pipe.json" cannot be used: it is no regular file');
});

const circular: Record<string, unknown> = { version: 1 };
circular["plugins"] = circular;

test.for<{ name: string; object: unknown }>([
  { name: "refers to itself", object: circular },
  { name: "has numbers that JSON has not", object: { version: 1n, plugins: {} } },
  { name: "becomes nothing", object: { toJSON: () => undefined } },
  { name: "inherits what it grants", object: Object.create(policyOf({ a: { tools: {} } })) },
  { name: "has a map of plugins", object: [new Map()] },
])("an object that $name is no policy", async ({ object }) => {
  await refusalOf(object as PolicyFile);
});

test("a lock file pins what the policy names, from the policy's own folder", async () => {
  mkdirSync(join(folder.path, "locks"));
  write("locks/plugins.json", lockOf({ a: one, unused: other }));
  const lockFile = "locks/plugins.json";
  const locked = await loadPolicy(write("locked.json", policyOf({ a: { tools: {} } }, { lockFile })));
  expect(locked.plugins.get("a")?.sha256).toEqual([one]);
  expect([...locked.plugins.keys()]).toEqual(["a"]);
  const both = policyOf({ a: { sha256: [other, one], tools: {} } }, { lockFile });
  expect((await loadPolicy(write("both.json", both))).plugins.get("a")?.sha256).toEqual([one]);
});

test.for<{ name: string; lock: string | object; plugin?: PolicyFile["plugins"][string]; says: string }>([
  { name: "misses a plugin", lock: lockOf({ b: one }), says: 'names the plugin "a", which its lock file does not pin' },
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
])("a lock file that $name is refused, with the policy", async ({ lock, says }, { task }) => {
  write(`${task.id}.lock.json`, lock);
  const policy = policyOf({ a: { sha256: [one], tools: {} } }, { lockFile: `${task.id}.lock.json` });
  expect(await refusalOf(write(`${task.id}.json`, policy))).toContain(says);
});

test("a prototype's names are granted only where the policy itself names them", async () => {
  const manifest = guestManifest("constructor", { constructor: "run", toString: "other" }, ["read"]);
  const deviations = async (plugins: PolicyFile["plugins"]): Promise<string[]> =>
    policyDeviations(manifest, one, await loadPolicy(policyOf(plugins)));
  expect(await deviations({})).toEqual([expect.stringContaining('does not name the plugin "constructor"')]);
  expect(await deviations({ constructor: { tools: {} } })).toEqual([
    'the policy does not name the tool "constructor", so it grants it nothing',
    'the policy does not name the tool "toString", so it grants it nothing',
  ]);
  expect(await deviations({ constructor: { tools: { constructor: read, toString: read } } })).toEqual([]);
});

test("a lock file does not pin a prototype's name", async () => {
  write("empty.lock.json", lockOf({}));
  const policy = policyOf({ constructor: { tools: {} } }, { lockFile: "empty.lock.json" });
  expect(await refusalOf(write("constructor.json", policy))).toContain("which its lock file does not pin");
});

test("every deviation is named, in the order file, tools, memory", async () => {
  const manifest = {
    ...guestManifest("a", { First: "first", Second: "second", Third: "third" }, ["read", "write", "clock"]),
    memoryPages: { min: 8, max: 16 },
  };
  const tools = { First: read, Third: { rights: [], scopes: ["other"] } };
  const policy = await loadPolicy(policyOf({ a: { sha256: [other], tools } }, { limits: { memoryPages: 8 } }));
  expect(policyDeviations(manifest, one, policy)).toEqual([
    `its SHA-256 is ${one}, the policy pins ${other}`,
    'the tool "First" asks for "write", "clock", the policy grants it "read"',
    'the policy does not name the tool "Second", so it grants it nothing',
    'the tool "Third" asks for "read", "write", "clock", the policy grants it no right',
    'the tool "Third" asks for the scope "memory", the policy grants it "other"',
    "its memory is 8 pages at first, which must be fewer than the policy's 8 at last",
  ]);
});

test("a proposal is the least policy that has no deviation", async () => {
  const manifest = guestManifest("a", { First: "first", Second: "second" }, { First: ["clock", "read", "clock"] });
  const proposal = proposePolicy(manifest, one);
  expect(proposal).toEqual({
    version: 1,
    plugins: {
      a: {
        sha256: [one],
        tools: {
          First: { rights: ["read", "clock"], scopes: ["memory"] },
          Second: { rights: [], scopes: ["memory"] },
        },
      },
    },
  });
  expect(policyDeviations(manifest, one, await loadPolicy(proposal))).toEqual([]);
  expect(policyDeviations(manifest, other, await loadPolicy(proposal))).toHaveLength(1);
});
