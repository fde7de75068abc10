/**
 * What a policy takes away is out of everybody's reach: of callers by every name and role, of the guest whatever its code
 * tries. What it leaves works on. One line for each thing tells the operator.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { PolicyFile, RuntimeOptions } from "memcell";
import { afterAll, expect, test } from "vitest";

import { openStage } from "../stage/runtime.ts";
import type { RuntimeStage } from "../stage/runtime.ts";
import { assembleGuest } from "../support/assemble-guest.ts";
import { guestManifest } from "../support/guest-manifest.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames, shippedPlugin, testPlugin } from "../support/test-plugin.ts";
import { userFolderNames, writeUserFiles } from "../support/user-files.ts";
import { guestText } from "../support/write-guest.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

type GrantedTools = PolicyFile["plugins"][string]["tools"];
type Granted = GrantedTools[string];

const alice = { userId: "alice" };
const upsert = { action: "upsert", name: "a", type: "user", description: "d", body: "b" };
const readsMemory: Granted = { rights: ["read"], scopes: ["memory"] };
const policyOf = (plugin: string, tools: GrantedTools): PolicyFile => ({
  version: 1,
  plugins: { [plugin]: { tools } },
});
/** Leaves one tool of the plugin. */
const readsEntries: Granted = { rights: ["read", "list"], scopes: ["memory"] };
const onlyRead = policyOf("user-memory", { ReadUserMemory: readsEntries });

const shippedPolicy = JSON.parse(
  readFileSync(new URL(import.meta.resolve("memcell/default-policy.json")), "utf8"),
) as PolicyFile;
const grantsOf = (plugin: string): Record<string, Granted> => ({ ...shippedPolicy.plugins[plugin]?.tools });
const keptForHost = (granted: Granted | undefined): Granted => ({ ...(granted ?? readsMemory), audience: "host" });

const open = (policy: PolicyFile | string, plugins: readonly string[], more: Partial<RuntimeOptions> = {}) =>
  openStage({ policy, plugins, threadsMax: 1, ...more });
const linesOf = ({ log }: RuntimeStage): string[] => log.map(({ level, tool, text }) => `${level} ${tool}: ${text}`);

/** What a call answers for a tool that nobody can call. */
const unknownTool = (message: unknown = expect.any(String)): object => ({
  ok: false,
  error: { code: "TOOL_UNKNOWN", message },
});
const failed = (code: string, message: unknown = expect.any(String)): object => ({
  ok: false,
  error: { code, message },
});
const ways = ["call", "callAsHost"] as const;

test("a tool that the policy does not name is unknown to models and programs, by each of its names", async () => {
  await using stage = await open(onlyRead, ["user-memory"]);
  const { runtime } = stage;
  expect(runtime.tools().map(({ name }) => name)).toEqual(["ReadUserMemory"]);
  for (const tool of ["UpdateUserMemory", "PromptIndex", "user-memory/UpdateUserMemory", "user-memory/PromptIndex"]) {
    const ofModel = `Cannot call "${tool}": no such tool, allowed: ReadUserMemory`;
    expect(await runtime.call(tool, upsert, alice)).toMatchObject(unknownTool(ofModel));
    const ofHost = /: the policy does not name the tool "\w+", so it grants it nothing: it is not/;
    expect(await runtime.callAsHost(tool, upsert, alice)).toMatchObject(unknownTool(expect.stringMatching(ofHost)));
    expect(() => runtime.documentation(tool)).toThrow(`Cannot document "${tool}": no such tool, allowed: `);
  }
  expect(await runtime.call("ReadUserMemory", { name: "a" }, alice)).toMatchObject(failed("ENTRY_NOT_FOUND"));
  expect(userFolderNames(stage.dataDir)).toEqual([]);
});

test("a tool that is kept for the host is unknown to models, and programs call it", async () => {
  const kept = grantsOf("user-memory");
  const names = ["UpdateUserMemory", "ReadUserMemory", "SearchUserMemory"];
  for (const name of names) kept[name] = keptForHost(kept[name]);
  await using stage = await open(policyOf("user-memory", kept), ["user-memory"]);
  const { runtime } = stage;
  const told = "is to be offered to models, the policy keeps it for the host: only programs can call it";
  expect(linesOf(stage)).toEqual(names.map((name) => `warn policy: user-memory: the tool "${name}" ${told}`));
  expect(runtime.tools()).toEqual([]);
  expect(runtime.families()).toMatchObject([{ name: "user-memory", canRead: true }]);
  expect(runtime.families()[0]).not.toHaveProperty("readTool");
  expect(await runtime.call("UpdateUserMemory", upsert, alice)).toMatchObject(unknownTool());
  for (const tool of ["UpdateUserMemory", "user-memory/UpdateUserMemory"]) {
    expect(await runtime.callAsHost(tool, upsert, alice)).toMatchObject({ ok: true });
  }
  expect(await runtime.readEntry({ name: "a" }, alice)).toMatchObject({ body: "b" });
});

test("without the tools that have roles, a family is as one that has none", async () => {
  await using stage = await open(onlyRead, ["user-memory"]);
  const { runtime, dataDir } = stage;
  expect(linesOf(stage).map((line) => line.split(": ").at(-1))).toEqual([
    "it is not available",
    "it is not available, so programs cannot search its entries",
    "it is not available, so prompts have no index of this plugin",
    "it is not available, so its entries are not listed",
    "it is not available, so doctor and import do not look into its files",
    "it is not available, so its deleted files come back byte for byte, without the plugin",
    "it is not available, so programs cannot add an entry of plain text",
  ]);
  expect(runtime.families()).toMatchObject([{ hasIndex: false, hasEntries: false, canRead: true }]);
  await expect(runtime.memoryIndex(alice)).rejects.toMatchObject({ code: "TOOL_UNKNOWN" });
  await expect(runtime.memoryEntries(alice)).rejects.toMatchObject({ code: "TOOL_UNKNOWN" });
  const trashed = "memory/trash/gone.20260102T030405000Z.md";
  writeUserFiles(dataDir, { alice: { "memory/broken.md": "No front matter.\n", [trashed]: "Not parsed.\n" } });
  // With the plugin's inspection, the first file would be a finding.
  expect(await runtime.upkeep.inspect(alice)).toEqual([]);
  expect(await runtime.upkeep.restore(alice, "gone.md")).toMatchObject({ path: "gone.md" });
  expect(stage.files("alice")).toMatchObject({ "memory/gone.md": "Not parsed.\n" });
  const imported = [{ scope: "memory", path: "new.md", content: Buffer.from("Not parsed.\n") }];
  expect(await runtime.upkeep.import(alice, imported)).toMatchObject({ created: ["memory/new.md"] });
});

test("a family without any tool has no scope, entries or resources, and a mount for it is refused", async () => {
  const policy = policyOf("journal", grantsOf("journal"));
  await using stage = await open(policy, ["journal", "user-memory"]);
  const { runtime, dataDir } = stage;
  expect(linesOf(stage)).toEqual([
    'warn policy: user-memory: the policy "inline" does not name the plugin "user-memory", so it grants it nothing ' +
      '("memcell audit FILE --propose" prints a policy): none of its tools is available',
  ]);
  expect(runtime.families().map(({ name }) => name)).toEqual(["journal"]);
  writeUserFiles(dataDir, { alice: { "memory/a.md": "---\nname: a\ndescription: d of a\ntype: user\n---\nbody\n" } });
  const of = { family: "user-memory" };
  const content = Buffer.from("Not parsed.\n");
  for (const ask of [
    () => runtime.memoryIndex(alice, of),
    () => runtime.memoryEntries(alice, of),
    () => runtime.readEntry({ ...of, name: "a" }, alice),
    () => runtime.upkeep.import(alice, [{ scope: "memory", path: "new.md", content }]),
  ])
    await expect(ask()).rejects.toMatchObject({ code: "TOOL_UNKNOWN" });
  expect(await runtime.memoryIndex(alice)).not.toContain("d of a");
  // The owner still gets all files.
  const { files } = await runtime.upkeep.export(alice);
  expect(files.map(({ scope, path }) => `${scope}/${path}`)).toEqual(["memory/a.md"]);
  const dir = join(folder.path, "workspace");
  mkdirSync(dir);
  const mounts = [{ userId: "alice", scope: "memory", dir }];
  await expect(open(policy, ["journal", "user-memory"], { mounts })).rejects.toThrow(
    'Cannot mount "memory": no loaded tool has this scope',
  );
});

test("commands whose rights are taken away are neither described nor called, and the others work", async () => {
  const { SetInternal: _, ...tools } = grantsOf("stores");
  tools["memory"] = { rights: ["read", "list", "clock", "search", "grant_list"], scopes: ["store:*"] };
  await using stage = await open(policyOf("stores", tools), ["stores"]);
  const { runtime } = stage;
  const lost = 'its commands "create", "edit", "delete", "rename", "share", "unshare" are not available';
  expect(linesOf(stage)[0]).toContain(lost);
  const [tool] = runtime.tools();
  expect(tool).toMatchObject({ name: "memory", rights: tools["memory"].rights });
  const properties = tool?.inputSchema["properties"] as Record<string, { enum?: unknown }>;
  expect(properties["command"]?.enum).toEqual(["view", "search", "stores"]);
  expect(Object.keys(properties).toSorted()).toEqual(["command", "path", "query"]);
  const create = { command: "create", path: "/memories/a.md", content: "x" };
  const share = { command: "share", agent: "7f3c2a10-5b6e-4c8d-9e1f-0a2b3c4d5e6f" };
  for (const call of ways) {
    for (const input of [create, share]) {
      expect(await runtime[call]("memory", input, alice)).toMatchObject(failed("INPUT_INVALID"));
    }
    expect(await runtime[call]("memory", { command: "view", path: "/memories/" }, alice)).toMatchObject({ ok: true });
  }
  await expect(runtime.stores(alice).setInternal(null, "k", "v")).rejects.toMatchObject({ code: "TOOL_UNKNOWN" });
  expect(await runtime.stores(alice).getInternal(null, "k")).toBeNull();
});

function writeLiar(name: string, change: (manifest: ReturnType<typeof guestManifest>) => object): string {
  const exported = { ReadUserMemory: "write", Unasked: "write_unasked", Twice: "write_twice" };
  const manifest = change(guestManifest(name, exported, ["read", "write"]));
  const file = join(folder.path, `${name}.wasm`);
  writeFileSync(file, assembleGuest(guestText("liar"), [JSON.stringify(manifest)]));
  return file;
}

test("what a policy takes away makes room: two plugins that clash load if it leaves one of the two tools", async () => {
  const both = [shippedPlugin("user-memory"), writeLiar("other", (manifest) => manifest)];
  const policy = policyFor(both);
  await expect(open(policy, both)).rejects.toThrow('offers models the tool "ReadUserMemory" as well');
  const tools: Record<string, Granted> = { ...policy.plugins["other"]?.tools };
  tools["ReadUserMemory"] = keptForHost(tools["ReadUserMemory"]);
  const narrow = { ...policy, plugins: { ...policy.plugins, other: { tools } } };
  await using stage = await open(narrow, both);
  expect(await stage.runtime.call("ReadUserMemory", { name: "a" }, alice)).toMatchObject(failed("ENTRY_NOT_FOUND"));
  await expect(open({ ...narrow, strict: true }, both)).rejects.toMatchObject({ code: "PLUGIN_REFUSED" });
});

const command = (name: string, exported: string, rights: readonly string[]): object => {
  return { name, export: exported, rights, fields: [] };
};

test("a command that is left cannot use the right that the policy has taken from its tool", async () => {
  // Of the two commands, `look` writes as well.
  const commands = [command("look", "write_unasked", ["read"]), command("change", "write", ["read", "write"])];
  const input = { type: "object", properties: { command: { type: "string", enum: ["look", "change"] } } };
  const liar = writeLiar("liar", (manifest) => {
    const [{ export: _, ...first } = { export: "" }, , twice] = manifest.tools;
    return { ...manifest, abi: 2, tools: [{ ...first, name: "Liar", commands, input }, twice] };
  });
  await using stage = await open(policyOf("liar", { Liar: readsMemory }), [liar]);
  const { runtime } = stage;
  expect(linesOf(stage)).toEqual([
    'warn policy: liar: the tool "Liar" asks for "write", the policy grants it "read": its command "change" is not available',
    'warn policy: liar: the policy does not name the tool "Twice", so it grants it nothing: it is not available',
  ]);
  const denial = 'Cannot call store_write: this call is not granted "write"';
  const unknown = "Unknown command: change. Use look.";
  for (const call of ways) {
    expect(await runtime[call]("Liar", { command: "look" }, alice)).toMatchObject(failed("CAPABILITY_DENIED", denial));
    expect(await runtime[call]("Liar", { command: "change" }, alice)).toMatchObject(failed("INPUT_INVALID", unknown));
    expect(await runtime[call]("Twice", {}, alice)).toMatchObject(unknownTool());
  }
  const inputSchema = { properties: { command: { enum: ["look"] } } };
  expect(runtime.tools()).toMatchObject([{ name: "Liar", rights: ["read"], inputSchema }]);
  expect(userFolderNames(stage.dataDir)).toEqual([]);
});

const step = (of: string): object[] => [
  { of, request: JSON.stringify({ scope: "memory", path: "a.md", content: "x" }) },
];

test("a tool that is kept for programs has no more rights there, whatever its code tries", async () => {
  const policy = policyOf("puppet", { ReadingPuppet: keptForHost(readsMemory) });
  await using stage = await open(policy, [testPlugin("puppet")]);
  const { runtime } = stage;
  for (const of of ["store_write", "store_trash", "store_list", "clock_now"]) {
    expect(await runtime.callAsHost("ReadingPuppet", step(of), alice)).toMatchObject(failed("CAPABILITY_DENIED"));
    expect(await runtime.call("ReadingPuppet", step(of), alice)).toMatchObject(unknownTool());
  }
  const read = [{ of: "store_read", request: JSON.stringify({ scope: "memory", path: "a.md" }) }];
  expect(await runtime.callAsHost("puppet/ReadingPuppet", read, alice)).toMatchObject({ ok: true });
  expect(userFolderNames(stage.dataDir)).toEqual([]);
});

test("without its scope, a tool is not available", async () => {
  const SearchUserMemory: Granted = { rights: ["read", "list"], scopes: ["memory"] };
  const tools = { ReadUserMemory: { ...readsEntries, scopes: [] }, SearchUserMemory };
  await using stage = await open(policyOf("user-memory", tools), ["user-memory"]);
  expect(stage.runtime.tools().map(({ name }) => name)).toEqual(["SearchUserMemory"]);
});

test("a policy file that changes after the start changes nothing, and one that cannot be used starts nothing", async () => {
  const file = join(folder.path, "policy.json");
  writeFileSync(file, JSON.stringify(onlyRead));
  {
    await using stage = await open(file, ["user-memory"]);
    writeFileSync(file, JSON.stringify(policyOf("user-memory", grantsOf("user-memory"))));
    expect(await stage.runtime.call("UpdateUserMemory", upsert, alice)).toMatchObject(unknownTool());
    rmSync(file);
    expect(await stage.runtime.call("UpdateUserMemory", upsert, alice)).toMatchObject(unknownTool());
  }
  const whole = { version: 1, plugins: {} };
  for (const text of [
    "{",
    ...[{ version: 1 }, { ...whole, strict: 1 }, { ...whole, strikt: true }].map((each) => JSON.stringify(each)),
  ]) {
    writeFileSync(file, text);
    await expect(open(file, ["user-memory"])).rejects.toMatchObject({ code: "PLUGIN_REFUSED" });
  }
});

test("a policy that names nothing gives a runtime without tools", async () => {
  await using stage = await open({ version: 1, plugins: {} }, shippedNames());
  const { runtime } = stage;
  expect(linesOf(stage)).toHaveLength(shippedNames().length);
  expect([runtime.tools(), runtime.families(), runtime.hasMemory]).toEqual([[], [], false]);
  for (const call of ways) expect(await runtime[call]("ReadUserMemory", {}, alice)).toMatchObject(unknownTool());
});
