/**
 * What a policy takes away is out of every caller's reach, by every name and role, and what it leaves works on. One line
 * for each thing tells the operator.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { assembleGuest } from "../support/assemble-guest.ts";
import { guestManifest } from "../support/guest-manifest.ts";
import { policyFor } from "../support/policy-for.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedPlugin } from "../support/test-plugin.ts";
import { readUserFiles, userFolderNames, writeUserFiles } from "../support/user-files.ts";
import { guestText } from "../support/write-guest.ts";
import { alice, grantsOf, onlyRead, openNarrowed, unknownTool } from "./narrowing-stage.ts";
import type { GrantedTools } from "./narrowing-stage.ts";

const fact = (name: string): string =>
  `---\nname: ${name}\ndescription: d of ${name}\ntype: user\ncreated: '2026-01-02T03:04:05.000Z'\n` +
  "updated: '2026-01-02T03:04:05.000Z'\n---\nbody\n";

test("a tool that the policy does not name is unknown to models and programs, by each of its names", async () => {
  await using opened = await openNarrowed(onlyRead, ["user-memory"]);
  const { runtime, dataDir } = opened;
  expect(runtime.tools().map(({ name }) => name)).toEqual(["ReadUserMemory"]);
  const input = { action: "upsert", name: "a", type: "user", description: "d", body: "b" };
  for (const tool of ["UpdateUserMemory", "PromptIndex", "user-memory/UpdateUserMemory", "user-memory/PromptIndex"]) {
    const ofModel = `Cannot call "${tool}": no such tool, allowed: ReadUserMemory`;
    expect(await runtime.call(tool, input, alice)).toMatchObject(unknownTool(ofModel));
    expect(await runtime.callAsHost(tool, input, alice)).toMatchObject(
      unknownTool(
        expect.stringMatching(/: the policy does not name the tool "\w+", so it grants it nothing: it is not/),
      ),
    );
    expect(() => runtime.documentation(tool)).toThrow(`Cannot document "${tool}": no such tool, allowed: `);
  }
  expect(await runtime.call("ReadUserMemory", { name: "a" }, alice)).toMatchObject({
    error: { code: "ENTRY_NOT_FOUND" },
  });
  expect(userFolderNames(dataDir)).toEqual([]);
});

test("a tool that is kept for the host is unknown to models, and programs call it", async () => {
  const kept = grantsOf("user-memory", (tools) => {
    tools["UpdateUserMemory"] = { ...tools["UpdateUserMemory"], audience: "host" } as GrantedTools[string];
    tools["ReadUserMemory"] = { ...tools["ReadUserMemory"], audience: "host" } as GrantedTools[string];
    tools["SearchUserMemory"] = { ...tools["SearchUserMemory"], audience: "host" } as GrantedTools[string];
  });
  await using opened = await openNarrowed(kept, ["user-memory"]);
  const { runtime, lines } = opened;
  expect(lines).toEqual(
    ["UpdateUserMemory", "ReadUserMemory", "SearchUserMemory"].map(
      (tool) =>
        `warn policy: user-memory: the tool "${tool}" is to be offered to models, the policy keeps it for the host: ` +
        "only programs can call it",
    ),
  );
  expect(runtime.tools()).toEqual([]);
  expect(runtime.families()).toMatchObject([{ name: "user-memory", canRead: true }]);
  expect(runtime.families()[0]).not.toHaveProperty("readTool");
  const input = { action: "upsert", name: "a", type: "user", description: "d", body: "b" };
  expect(await runtime.call("UpdateUserMemory", input, alice)).toMatchObject(unknownTool());
  for (const tool of ["UpdateUserMemory", "user-memory/UpdateUserMemory"]) {
    expect(await runtime.callAsHost(tool, input, alice)).toMatchObject({ ok: true });
  }
  expect(await runtime.readEntry({ name: "a" }, alice)).toMatchObject({ body: "b" });
});

test("without the tools that have roles, a family is as one that has none", async () => {
  await using opened = await openNarrowed(onlyRead, ["user-memory"]);
  const { runtime, dataDir, lines } = opened;
  expect(lines.map((line) => line.split(": ").at(-1))).toEqual([
    "it is not available",
    "it is not available",
    "it is not available, so prompts have no index of this plugin",
    "it is not available, so its entries are not listed",
    "it is not available, so doctor and import do not look into its files",
    "it is not available, so its deleted files come back byte for byte, without the plugin",
  ]);
  expect(runtime.families()).toMatchObject([{ hasIndex: false, hasEntries: false, canRead: true }]);
  await expect(runtime.memoryIndex(alice)).rejects.toMatchObject({ code: "TOOL_UNKNOWN" });
  await expect(runtime.memoryEntries(alice)).rejects.toMatchObject({ code: "TOOL_UNKNOWN" });
  const files = {
    "memory/broken.md": "No front matter.\n",
    "memory/trash/gone.20260102T030405000Z.md": "Not parsed.\n",
  };
  writeUserFiles(dataDir, { alice: files });
  // With the plugin's inspection, the first file would be a finding.
  expect(await runtime.upkeep.inspect(alice)).toEqual([]);
  expect(await runtime.upkeep.restore(alice, "gone.md")).toMatchObject({ path: "gone.md" });
  expect(readUserFiles(dataDir, "alice")).toMatchObject({ "memory/gone.md": "Not parsed.\n" });
  const imported = [{ scope: "memory", path: "new.md", content: Buffer.from("Not parsed.\n") }];
  expect(await runtime.upkeep.import(alice, imported)).toMatchObject({ created: ["memory/new.md"] });
});

test("a family without any tool has no scope, entries or resources", async () => {
  const policy = grantsOf("journal");
  await using opened = await openNarrowed(policy, ["journal", "user-memory"]);
  const { runtime, dataDir, lines } = opened;
  expect(lines).toEqual([
    'warn policy: user-memory: the policy "inline" does not name the plugin "user-memory", so it grants it nothing ' +
      '("memcell audit FILE --propose" prints a policy): none of its tools is available',
  ]);
  expect(runtime.families().map(({ name }) => name)).toEqual(["journal"]);
  writeUserFiles(dataDir, { alice: { "memory/a.md": fact("a") } });
  await expect(runtime.memoryIndex(alice, { family: "user-memory" })).rejects.toMatchObject({ code: "TOOL_UNKNOWN" });
  await expect(runtime.memoryEntries(alice, { family: "user-memory" })).rejects.toMatchObject({ code: "TOOL_UNKNOWN" });
  await expect(runtime.readEntry({ family: "user-memory", name: "a" }, alice)).rejects.toMatchObject({
    code: "TOOL_UNKNOWN",
  });
  expect(await runtime.memoryIndex(alice)).not.toContain("d of a");
  const imported = [{ scope: "memory", path: "new.md", content: Buffer.from(fact("new")) }];
  await expect(runtime.upkeep.import(alice, imported)).rejects.toMatchObject({
    code: "TOOL_UNKNOWN",
    message: expect.stringContaining("no loaded plugin has this scope"),
  });
  // The owner still gets all files.
  expect((await runtime.upkeep.export(alice)).files.map(({ scope, path }) => `${scope}/${path}`)).toEqual([
    "memory/a.md",
  ]);
});

test("commands whose rights are taken away are neither described nor called, and the others work", async () => {
  const reading = grantsOf("stores", (tools) => {
    tools["memory"] = { rights: ["read", "list", "clock", "search", "grant_list"], scopes: ["store:*"] };
    delete tools["SetInternal"];
  });
  await using opened = await openNarrowed(reading, ["stores"]);
  const { runtime, lines } = opened;
  expect(lines[0]).toContain('its commands "create", "edit", "delete", "rename", "share", "unshare" are not available');
  const [tool] = runtime.tools();
  expect(tool).toMatchObject({ name: "memory", rights: ["read", "list", "clock", "search", "grant_list"] });
  const properties = tool?.inputSchema["properties"] as Record<string, { enum?: unknown }>;
  expect(properties["command"]?.enum).toEqual(["view", "search", "stores"]);
  expect(Object.keys(properties).toSorted()).toEqual(["command", "path", "query"]);
  const create = { command: "create", path: "/memories/a.md", content: "x" };
  const share = { command: "share", agent: "7f3c2a10-5b6e-4c8d-9e1f-0a2b3c4d5e6f" };
  for (const call of ["call", "callAsHost"] as const) {
    for (const input of [create, share]) {
      expect(await runtime[call]("memory", input, alice)).toMatchObject({
        ok: false,
        error: { code: "INPUT_INVALID" },
      });
    }
    expect(await runtime[call]("memory", { command: "view", path: "/memories/" }, alice)).toMatchObject({ ok: true });
  }
  await expect(runtime.stores(alice).setInternal(null, "k", "v")).rejects.toMatchObject({ code: "TOOL_UNKNOWN" });
  expect(await runtime.stores(alice).getInternal(null, "k")).toBeNull();
});

test("what a policy takes away makes room: two plugins that clash load if the policy leaves one of the two tools", async () => {
  using folder = temporaryFolder();
  const manifest = guestManifest("other", { ReadUserMemory: "write", B: "write_unasked", C: "write_twice" }, [
    "read",
    "write",
  ]);
  const other = join(folder.path, "other.wasm");
  writeFileSync(other, assembleGuest(guestText("liar"), [JSON.stringify(manifest)]));
  const both = [shippedPlugin("user-memory"), other];
  const policy = policyFor(both);
  await expect(openNarrowed(policy, both)).rejects.toThrow('offers models the tool "ReadUserMemory" as well');
  const ofOther = policy.plugins["other"]?.tools ?? {};
  const kept = {
    ...ofOther,
    ReadUserMemory: { ...ofOther["ReadUserMemory"], audience: "host" } as GrantedTools[string],
  };
  const narrow = { ...policy, plugins: { ...policy.plugins, other: { tools: kept } } };
  await using opened = await openNarrowed(narrow, both);
  expect(await opened.runtime.call("ReadUserMemory", { name: "a" }, alice)).toMatchObject({
    error: { code: "ENTRY_NOT_FOUND" },
  });
  await expect(openNarrowed({ ...narrow, strict: true }, both)).rejects.toMatchObject({ code: "PLUGIN_REFUSED" });
});
