/**
 * What a policy takes away is out of the guest's reach, whatever its code tries and whatever becomes of the policy's file.
 * Callers: `narrowed-callers.test.ts`.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { PolicyFile } from "memcell";
import { afterAll, expect, test } from "vitest";

import { assembleGuest } from "../support/assemble-guest.ts";
import { guestManifest } from "../support/guest-manifest.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames, testPlugin } from "../support/test-plugin.ts";
import { userFolderNames } from "../support/user-files.ts";
import { guestText } from "../support/write-guest.ts";
import { alice, grantsOf, onlyRead, openNarrowed, readsMemory, unknownTool } from "./narrowing-stage.ts";
import type { GrantedTools } from "./narrowing-stage.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const command = (name: string, exported: string, rights: ("read" | "write")[]): object => ({
  name,
  export: exported,
  rights,
  fields: [],
});

/** A plugin whose tool `Liar` has two commands, of which `look` writes as well. */
function writeLiar(): string {
  const manifest = guestManifest("liar", { Liar: "write", Unasked: "write_twice" }, ["read", "write"]);
  const commands = [command("look", "write_unasked", ["read"]), command("change", "write", ["read", "write"])];
  const input = { type: "object", properties: { command: { type: "string", enum: ["look", "change"] } } };
  const tools = manifest.tools.map(({ export: own, ...tool }) =>
    tool.name === "Liar" ? { ...tool, commands, input } : { ...tool, export: own },
  );
  const file = join(folder.path, "liar.wasm");
  writeFileSync(file, assembleGuest(guestText("liar"), [JSON.stringify({ ...manifest, abi: 2, tools })]));
  return file;
}

test("a command that is left cannot use the right that the policy has taken from its tool", async () => {
  const policy: PolicyFile = { version: 1, plugins: { liar: { tools: { Liar: readsMemory } } } };
  await using opened = await openNarrowed(policy, [writeLiar()]);
  const { runtime, dataDir, lines } = opened;
  expect(lines).toEqual([
    'warn policy: liar: the tool "Liar" asks for "write", the policy grants it "read": its command "change" is not available',
    'warn policy: liar: the policy does not name the tool "Unasked", so it grants it nothing: it is not available',
  ]);
  for (const call of ["call", "callAsHost"] as const) {
    expect(await runtime[call]("Liar", { command: "look" }, alice)).toMatchObject({
      ok: false,
      error: { code: "CAPABILITY_DENIED", message: 'Cannot call store_write: this call is not granted "write"' },
    });
    expect(await runtime[call]("Liar", { command: "change" }, alice)).toMatchObject({
      ok: false,
      error: { code: "INPUT_INVALID", message: "Unknown command: change. Use look." },
    });
    expect(await runtime[call]("Unasked", {}, alice)).toMatchObject(unknownTool());
  }
  expect(runtime.tools()).toMatchObject([
    { name: "Liar", rights: ["read"], inputSchema: { properties: { command: { enum: ["look"] } } } },
  ]);
  expect(userFolderNames(dataDir)).toEqual([]);
});

test("a tool that is kept for programs has no more rights there, whatever its code tries", async () => {
  const policy = policyFor([testPlugin("puppet")]);
  const tools: GrantedTools = { ReadingPuppet: { ...readsMemory, audience: "host" } };
  await using opened = await openNarrowed({ ...policy, plugins: { puppet: { tools } } }, [testPlugin("puppet")]);
  const { runtime, dataDir } = opened;
  const steps = ["store_write", "store_trash", "store_list", "clock_now"].map((of) => [
    { of, request: JSON.stringify({ scope: "memory", path: "a.md", content: "x" }) },
  ]);
  for (const step of steps) {
    expect(await runtime.callAsHost("ReadingPuppet", step, alice)).toMatchObject({
      ok: false,
      error: { code: "CAPABILITY_DENIED" },
    });
    expect(await runtime.call("ReadingPuppet", step, alice)).toMatchObject(unknownTool());
  }
  const read = [{ of: "store_read", request: JSON.stringify({ scope: "memory", path: "a.md" }) }];
  expect(await runtime.callAsHost("puppet/ReadingPuppet", read, alice)).toMatchObject({ ok: true });
  expect(userFolderNames(dataDir)).toEqual([]);
});

test("without its scope, a tool is not available", async () => {
  const searching = { rights: ["read", "list"], scopes: ["memory"] } as const;
  const tools = { ReadUserMemory: { ...readsMemory, scopes: [] }, SearchUserMemory: searching };
  await using opened = await openNarrowed({ version: 1, plugins: { "user-memory": { tools } } }, ["user-memory"]);
  expect(opened.runtime.tools().map(({ name }) => name)).toEqual(["SearchUserMemory"]);
});

test("a policy file that changes after the start changes nothing, and one that cannot be used starts nothing", async () => {
  const file = join(folder.path, "policy.json");
  writeFileSync(file, JSON.stringify(onlyRead));
  const input = { action: "upsert", name: "a", type: "user", description: "d", body: "b" };
  {
    await using opened = await openNarrowed(file, ["user-memory"]);
    writeFileSync(file, JSON.stringify(grantsOf("user-memory")));
    expect(await opened.runtime.call("UpdateUserMemory", input, alice)).toMatchObject(unknownTool());
    rmSync(file);
    expect(await opened.runtime.call("UpdateUserMemory", input, alice)).toMatchObject(unknownTool());
  }
  const unusable = [
    "{",
    '{"version":1}',
    '{"version":1,"strict":1,"plugins":{}}',
    '{"version":1,"strikt":true,"plugins":{}}',
  ];
  for (const text of unusable) {
    writeFileSync(file, text);
    await expect(openNarrowed(file, ["user-memory"])).rejects.toMatchObject({ code: "PLUGIN_REFUSED" });
  }
});

const pinned = (tools: GrantedTools): PolicyFile => ({
  version: 1,
  plugins: { "user-memory": { sha256: ["0".repeat(64)], tools } },
});

test("a file with another hash is refused, also where the policy leaves nothing of the plugin", async () => {
  for (const tools of [{ ReadUserMemory: readsMemory }, {}]) {
    await expect(openNarrowed(pinned(tools), ["user-memory"])).rejects.toThrow(
      /its SHA-256 is [0-9a-f]{64}, the policy pins 0+$/,
    );
  }
});

test("a mount for a scope of which no tool is left is refused", async () => {
  const dir = join(folder.path, "workspace");
  mkdirSync(dir);
  const mounts = [{ userId: "alice", scope: "journal", dir }];
  const creating = createRuntime({ dataDir: join(folder.path, "data"), policy: onlyRead, mounts });
  await expect(creating).rejects.toThrow('Cannot mount "journal": no loaded tool has this scope');
});

test("a policy that names nothing gives a runtime without tools", async () => {
  await using opened = await openNarrowed({ version: 1, plugins: {} }, shippedNames());
  const { runtime, lines } = opened;
  expect(lines).toHaveLength(shippedNames().length);
  expect([runtime.tools(), runtime.families(), runtime.hasMemory]).toEqual([[], [], false]);
  for (const call of ["call", "callAsHost"] as const) {
    expect(await runtime[call]("ReadUserMemory", {}, alice)).toMatchObject(unknownTool());
  }
});
