/** What clients get of several plugins at once, and of the journal alone. */
import { join } from "node:path";

import type { Client } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedFlags } from "../support/test-plugin.ts";
import { readUserFiles, writeUserFiles } from "../support/user-files.ts";
import { openHttpStage } from "./http-stage.ts";
import { clientKinds, connect } from "./mcp-clients.ts";

const reading = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
const writing = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false };

/** Writes, finds, updates, reads and fails, as one user. */
async function goThrough(client: Client, own: string): Promise<void> {
  const call = (name: string, input: object) => client.callTool({ name, arguments: { ...input } });
  const written = await call("memory_write", { key: "editor", content: `${own} uses Helix`, target: "summary" });
  expect(written).toMatchObject({
    structuredContent: { success: true, data: { key: "editor", target: "summary", path: "MEMORY.md" } },
  });
  expect(JSON.parse((written.content as { text: string }[])[1]?.text ?? "")).toEqual(written.structuredContent);
  const found = await call("memory_search", { query: "HELIX" });
  expect(found.structuredContent).toMatchObject({
    success: true,
    data: { results: [{ content: `${own} uses Helix` }] },
  });
  const updated = await call("memory_update", { key: "editor", content: `${own} uses vi` });
  expect(updated.structuredContent).toMatchObject({ success: true, data: { kind: "summary" } });
  const read = await call("memory_read", { key: "editor" });
  expect(read.structuredContent).toMatchObject({ success: true, data: { content: `${own} uses vi`, tags: [] } });
  const taken = await call("memory_write", { key: "editor", content: "again" });
  expect(taken.structuredContent).toBeUndefined();
  expect(taken).toMatchObject({
    isError: true,
    _meta: { "memcell/error": { code: "MEMORY_KEY_EXISTS", of: "NAME_CONFLICT", blame: "caller", retryable: false } },
  });
}

const event = '{"type":"planner_note","timestamp":"2026-01-02T03:04:05Z","data":{"note":"n"},"labels":{}}\n';

/** What tools wrote can be read as resources. */
async function readsJournal(client: Client, content: string): Promise<void> {
  const uri = "memory://journal/entry/editor";
  const { contents } = await client.readResource({ uri });
  expect(contents).toMatchObject([{ uri, mimeType: "text/markdown", text: content }]);
  for (const index of ["memory://index", "memory://journal/index"]) {
    const read = await client.readResource({ uri: index });
    expect(read.contents).toMatchObject([{ text: expect.stringContaining("editor") as string }]);
  }
}

test.for(clientKinds)(
  "a client (%s) gets the tools of all plugins, and their memory as prompt and resources",
  async (kind) => {
    using folder = temporaryFolder();
    const dataDir = join(folder.path, "data");
    writeUserFiles(dataDir, { alice: { "runs/planner/run-1/000001.jsonl": event } });
    await using served = await connect(kind, ["--user", "alice", "--data", dataDir, ...shippedFlags()]);
    const { client } = served;
    const { tools } = await client.listTools();
    expect(Object.fromEntries(tools.map((tool) => [tool.name, tool.annotations]))).toMatchObject({
      memory_write: writing,
      memory_update: writing,
      memory_read: reading,
      memory_search: reading,
      UpdateUserMemory: writing,
      ReadUserMemory: reading,
      SearchUserMemory: reading,
      ReadRunHistory: reading,
    });
    const names = tools.map(({ name }) => name);
    expect(names.filter((name) => name.startsWith("memory_"))).toEqual([
      "memory_write",
      "memory_update",
      "memory_read",
      "memory_search",
    ]);
    for (const { outputSchema } of tools.filter(({ name }) => name.startsWith("memory_"))) {
      expect(outputSchema).toMatchObject({ type: "object", required: ["success", "data"] });
    }
    expect(client.getServerCapabilities()).toHaveProperty("resources");
    await goThrough(client, "alice");
    const { resources } = await client.listResources();
    const indexes = ["index", "journal/index", "stores/index", "user-memory/index"].map((path) => `memory://${path}`);
    // The run is an entry that no family can read.
    expect(resources.map(({ uri }) => uri)).toEqual([...indexes, "memory://journal/entry/editor"]);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.filter(({ uriTemplate }) => uriTemplate.includes("run"))).toEqual([]);
    const read = client.readResource({ uri: "memory://run-history/entry/planner%2Frun-1" });
    await expect(read).rejects.toThrow(/not found/i);
    const run = await client.callTool({ name: "ReadRunHistory", arguments: { agentId: "planner", runId: "run-1" } });
    expect(run.structuredContent).toMatchObject({ events: [{ type: "planner_note", note: "n" }] });
    await readsJournal(client, "alice uses vi");
    const files = Object.keys(readUserFiles(dataDir, "alice"));
    expect(files).toEqual(["journal/MEMORY.md", "runs/planner/run-1/000001.jsonl"]);
  },
);

test.for(clientKinds)("with the journal alone, a client (%s) gets its tools and its entries", async (kind) => {
  using folder = temporaryFolder();
  await using served = await connect(kind, [
    "--user",
    "alice",
    "--data",
    join(folder.path, "data"),
    "--plugin",
    "journal",
  ]);
  const { client } = served;
  expect(client.getServerCapabilities()).toHaveProperty("prompts");
  expect(client.getInstructions()).toMatch(/^The journal /);
  expect(client.getInstructions()).not.toContain("ReadUserMemory");
  await goThrough(client, "alice");
  await readsJournal(client, "alice uses vi");
  const strange = client.readResource({ uri: "memory://user-memory/entry/editor" });
  await expect(strange).rejects.toMatchObject({ code: -32602 });
  const absent = client.callTool({ name: "ReadUserMemory", arguments: { name: "a" } });
  await expect(absent).rejects.toMatchObject({ code: -32602, data: { code: "TOOL_UNKNOWN" } });
});

test.for(["2026-07-28", "legacy"] as const)("over HTTP (%s), each user has their own journal", async (mode) => {
  await using stage = await openHttpStage();
  const [alice, bob] = await Promise.all(
    ["alice", "bob"].map(async (user) => await stage.client(await stage.issuer.token(user), mode)),
  );
  if (!alice || !bob) throw new Error("Two clients were asked for");
  await goThrough(alice, "alice");
  const strange = await bob.callTool({ name: "memory_read", arguments: { key: "editor" } });
  expect(strange).toMatchObject({ isError: true, _meta: { "memcell/error": { code: "MEMORY_KEY_NOT_FOUND" } } });
  await Promise.all([goThrough(bob, "bob"), alice.callTool({ name: "memory_search", arguments: { query: "bob" } })]);
  const found = await alice.callTool({ name: "memory_search", arguments: { query: "" } });
  expect(found.structuredContent).toMatchObject({ data: { results: [{ content: "alice uses vi" }] } });
  expect(JSON.stringify(found)).not.toContain("bob");
  const ofBob = stage.records().filter(({ userId, tool }) => userId === "bob" && tool === "memory_write");
  expect(ofBob.filter(({ kind }) => kind === "call")).toMatchObject([
    { plugin: { name: "journal" }, code: null },
    { plugin: { name: "journal" }, code: "MEMORY_KEY_EXISTS" },
  ]);
});
