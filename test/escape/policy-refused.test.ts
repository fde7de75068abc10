/**
 * Plugins that are not the pinned file, or that request more than a strict policy grants: refused before any code runs.
 * What a policy that is not strict does with the latter: `policy-narrows.test.ts`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, memoryStore, ToolError } from "memcell";
import type { PolicyFile, Runtime } from "memcell";
import { afterAll, expect, test } from "vitest";

import type { ManifestTool } from "../../shared/manifest.ts";
import { readSections } from "../../shared/wasm-sections.ts";
import { customSection, writeModule } from "../../shared/wasm-writer.ts";
import { assembleGuest } from "../support/assemble-guest.ts";
import { guestManifest } from "../support/guest-manifest.ts";
import { policyFor } from "../support/policy-for.ts";
import { manifestOf, resealPlugin, withTool } from "../support/reseal-plugin.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin, testPlugin } from "../support/test-plugin.ts";
import { userFolderNames } from "../support/user-files.ts";
import { guestText, writeGuest } from "../support/write-guest.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const dataDir = join(folder.path, "data");

const shipped = readFileSync(shippedPlugin("user-memory"));
const defaultPolicy = JSON.parse(
  readFileSync(new URL(import.meta.resolve("memcell/default-policy.json")), "utf8"),
) as PolicyFile;
/** The default policy's grants, for any file with the plugin's name. */
const unpinned: PolicyFile = { version: 1, strict: true, plugins: defaultPolicy.plugins };
const strict = (policy: PolicyFile): PolicyFile => ({ ...policy, strict: true });

async function refusalOf(wasm: Uint8Array | string, policy?: PolicyFile): Promise<string> {
  const file = typeof wasm === "string" ? wasm : join(folder.path, "candidate.wasm");
  if (typeof wasm !== "string") writeFileSync(file, wasm);
  const options = { dataDir, plugins: [file], ...(policy && { policy }) };
  const error = await createRuntime(options).catch((thrown: unknown) => thrown);
  if (!(error instanceof ToolError)) throw new Error(`The plugin was not refused: ${String(error)}`);
  expect(error.code).toBe("PLUGIN_REFUSED");
  expect(error.message).not.toContain(folder.path);
  expect(userFolderNames(dataDir)).toEqual([]);
  return error.message;
}

test("a plugin that a strict policy does not name is refused, and the message says what to do", async () => {
  expect(await refusalOf(testPlugin("puppet"), unpinned)).toBe(
    'Cannot load plugin "puppet.wasm": the policy "inline" does not name the plugin "puppet", so it grants it nothing ' +
      '("memcell audit FILE --propose" prints a policy)',
  );
});

test("the shipped plugin with one more byte is refused by the default policy, with both hashes", async () => {
  const altered = writeModule([...readSections(shipped), customSection("note", Uint8Array.of(1))]);
  const hash = "[0-9a-f]{64}";
  const reason = new RegExp(`: its SHA-256 is ${hash}, the policy pins ${hash}$`);
  expect(await refusalOf(altered)).toMatch(reason);
  // Also where the policy leaves nothing of the plugin.
  const emptied = { "user-memory": { sha256: ["0".repeat(64)], tools: {} } };
  expect(await refusalOf(altered, { version: 1, plugins: emptied })).toMatch(reason);
});

test("a refusal of a file that is not the pinned one names only the hashes: its manifest is not checked", async () => {
  const strange = { input: { not: {} }, description: "\u202E", scopes: [] };
  const altered = resealPlugin(shipped, withTool(manifestOf(shipped), "InspectMemory", strange));
  expect(await refusalOf(altered)).toContain(": its SHA-256 is ");
  expect(await refusalOf(altered, unpinned)).not.toContain("SHA-256");
});

test.for<readonly [tool: string, changes: Partial<ManifestTool>, reason: string]>([
  ["ReadUserMemory", { rights: ["read", "write"] }, 'asks for "write", the policy grants it "list", "read"'],
  ["UpdateUserMemory", { scopes: ["memory", "other"] }, 'asks for the scope "other", the policy grants it "memory"'],
  ["RestoreEntry", { audience: "model" }, "is to be offered to models, the policy keeps it for the host"],
])("a strict policy refuses %s with %j, pinned or not", async ([tool, changes, reason]) => {
  const widened = resealPlugin(shipped, withTool(manifestOf(shipped), tool, changes));
  expect(await refusalOf(widened)).toContain("its SHA-256 is");
  expect(await refusalOf(widened, unpinned)).toContain(`: the tool "${tool}" ${reason}`);
});

test("a tool that a strict policy does not name is refused, whatever it is called", async () => {
  const [first, ...others] = manifestOf(shipped).tools;
  if (!first) throw new Error("The plugin has no tools");
  for (const name of ["constructor", "toString", "readUserMemory"]) {
    const renamed = resealPlugin(shipped, { ...manifestOf(shipped), tools: [{ ...first, name }, ...others] });
    expect(await refusalOf(renamed, unpinned)).toContain(`: the policy does not name the tool "${name}"`);
  }
});

test("a plugin with the name of a method of every object is refused as one that a strict policy does not name", async () => {
  const file = writeGuest(folder.path, "echo", { Echo: "echo", EchoAndFail: "echo_and_fail" });
  const named = resealPlugin(readFileSync(file), { ...manifestOf(readFileSync(file)), name: "constructor" });
  expect(await refusalOf(named, unpinned)).toContain('does not name the plugin "constructor"');
});

test("a fault of the file itself is reported before the policy's refusal", async () => {
  const manifest = guestManifest("stranger", { Guest: "guest" });
  const undeclared = assembleGuest(guestText("undeclared"), [JSON.stringify(manifest)]);
  expect(await refusalOf(undeclared, unpinned)).toContain("which its manifest does not account for");
});

test("the host does not compile a plugin that the policy refuses, and refuses one that no engine takes", async () => {
  // A code section that no engine accepts.
  const manifest = JSON.stringify(guestManifest("echo", { Echo: "echo", EchoAndFail: "echo_and_fail" }));
  const sections = readSections(assembleGuest(guestText("echo"), [manifest]));
  const broken = writeModule(sections.map((each) => (each.id === 10 ? { id: 10, payload: Uint8Array.of(1) } : each)));
  const file = join(folder.path, "broken.wasm");
  writeFileSync(file, broken);
  expect(await refusalOf(file, unpinned)).toContain("does not name the plugin");
  expect(await refusalOf(file, strict(policyFor([file])))).toContain("not a valid WebAssembly module");
  // Also where nothing of it would run.
  expect(await refusalOf(file, { version: 1, plugins: {} })).toContain("not a valid WebAssembly module");
});

test("a tool that requests less than the policy grants gets only what it requests", async () => {
  const plugins = [testPlugin("puppet")];
  const tools = policyFor(plugins).plugins["puppet"]?.tools ?? {};
  const widened = { ...tools, ReadingPuppet: tools["Puppet"] ?? expect.fail("The proposal does not name the tool") };
  const policy: PolicyFile = { version: 1, plugins: { puppet: { tools: widened } } };
  await using runtime = await createRuntime({ dataDir, plugins, policy, threadsMax: 1 });
  const write = { of: "store_write", request: JSON.stringify({ scope: "memory", path: "a.md", content: "x" }) };
  const message = 'Cannot call store_write: this call is not granted "write"';
  const denied = { ok: false, error: { code: "CAPABILITY_DENIED", message } };
  expect(await runtime.call("ReadingPuppet", [write], { userId: "alice" })).toMatchObject(denied);
  expect(userFolderNames(dataDir)).toEqual([]);
});

// A plugin file is checked and compiled once in a process. What one runtime decides does not reach the next.

const openShipped = (policy: PolicyFile): Promise<Runtime> =>
  createRuntime({ store: memoryStore(), plugins: ["user-memory"], policy, threadsMax: 1 });

test("a pin refuses a file that the runtime before has loaded, and a policy takes away what one before has granted", async () => {
  const { tools = {} } = unpinned.plugins["user-memory"] ?? {};
  await using _loaded = await openShipped({ version: 1, plugins: { "user-memory": { tools } } });
  const pinned = { sha256: ["0".repeat(64)], tools };
  await expect(openShipped({ version: 1, plugins: { "user-memory": pinned } })).rejects.toMatchObject({
    code: "PLUGIN_REFUSED",
  });
  const { UpdateUserMemory: _, ...others } = tools;
  await using runtime = await openShipped({ version: 1, plugins: { "user-memory": { tools: others } } });
  expect(runtime.tools().map(({ name }) => name)).toEqual(["ReadUserMemory", "SearchUserMemory"]);
});

test("a program that changes a schema changes it for itself", async () => {
  await using first = await openShipped(unpinned);
  const before = JSON.stringify(first.tools());
  for (const { inputSchema } of first.tools()) {
    Object.assign(inputSchema.properties ?? {}, { planted: { type: "string" } });
  }
  await using second = await openShipped(unpinned);
  expect(JSON.stringify(second.tools())).toBe(before);
});

test("a file that was replaced in its place is checked again", async () => {
  const file = join(folder.path, "user-memory.wasm");
  writeFileSync(file, shipped);
  const options = { dataDir, plugins: [file], policy: policyFor([file]) };
  await using _loaded = await createRuntime(options);
  writeFileSync(file, resealPlugin(shipped, { ...manifestOf(shipped), scopes: ["other"] } as never));
  await expect(createRuntime(options)).rejects.toMatchObject({ code: "PLUGIN_REFUSED" });
});
