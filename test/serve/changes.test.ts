/** Clients are notified of changes in the memory that they watch, and of nothing else. */
import { createRuntime, memoryStore, storeIdOf } from "memcell";
import type { Runtime } from "memcell";
import { describe, expect, test } from "vitest";

import { ChangeFeed } from "../../host/serve/mcp/change-feed.ts";
import { mcpLimits } from "../../host/serve/mcp/mcp-limits.ts";
import { WatchedResources } from "../../host/serve/mcp/watched-resources.ts";
import { ListenedResources } from "../../host/serve/stdio/listened-resources.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { clientKinds, connect } from "./mcp-clients.ts";
import { entry } from "./serve-process.ts";

describe.for(clientKinds)("client: %s", (kind) => {
  test("is notified of watched entries, and that the list has changed", async () => {
    using folder = temporaryFolder();
    await using served = await connect(kind, ["--user", "alice", "--data", folder.path]);
    const write = (args: object): Promise<unknown> =>
      served.client.callTool({ name: "UpdateUserMemory", arguments: { ...args } });
    await served.watch(["memory://index", "memory://user-memory/entry/watched"]);
    let told = served.nextChange();
    await write(entry("watched"));
    expect(await told).toEqual(["memory://index", "memory://user-memory/entry/watched"]);
    told = served.nextChange();
    await write(entry("other"));
    expect(await told).toEqual(["memory://index"]);
    told = served.nextChange();
    await write({ action: "delete", name: "watched" });
    expect(await told).toEqual(["memory://index", "memory://user-memory/entry/watched"]);
  });

  test("is notified of entries whose files do not reveal their names, with the URI it used, listed before or not", async () => {
    using folder = temporaryFolder();
    const plugins = ["--plugin", "user-memory", "--plugin", "journal"];
    await using served = await connect(kind, ["--user", "alice", "--data", folder.path, ...plugins]);
    const uris = ["memory://journal/entry/a%2Db", "memory://journal/entry/not-there-yet"];
    await served.watch([...uris, "memory://user-memory/entry/other"]);
    const told = served.nextChange();
    await served.client.callTool({ name: "memory_write", arguments: { key: "a-b", content: "one" } });
    expect(await told).toEqual(uris);
  });

  test("a call that fails or only reads causes no notification", async () => {
    using folder = temporaryFolder();
    await using served = await connect(kind, ["--user", "alice", "--data", folder.path]);
    await served.watch(["memory://user-memory/entry/a", "memory://user-memory/entry/b"]);
    const told = served.nextChange();
    await served.client.callTool({ name: "UpdateUserMemory", arguments: { action: "delete", name: "a" } });
    await served.client.callTool({ name: "ReadUserMemory", arguments: { name: "a" } });
    await served.client.callTool({ name: "UpdateUserMemory", arguments: { ...entry("b") } });
    expect(await told).toEqual(["memory://user-memory/entry/b"]);
  });
});

test("a client can stop watching", async () => {
  using folder = temporaryFolder();
  await using served = await connect("former SDK", ["--user", "alice", "--data", folder.path]);
  await served.watch(["memory://user-memory/entry/a", "memory://index"]);
  await served.client.unsubscribeResource({ uri: "memory://user-memory/entry/a" });
  const told = served.nextChange();
  await served.client.callTool({ name: "UpdateUserMemory", arguments: { ...entry("a") } });
  expect(await told).toEqual(["memory://index"]);
});

test("a feed reports one user's changes only, and none once closed", async () => {
  using folder = temporaryFolder();
  await using runtime = await createRuntime({ dataDir: folder.path });
  const [alices, bobs] = [new ChangeFeed(runtime, "alice"), new ChangeFeed(runtime, "bob")];
  const told: string[] = [];
  const uris = ["memory://user-memory/index", "memory://user-memory/entry/a", "memory://user-memory/entry/b"];
  for (const feed of [alices, bobs]) feed.watch([...uris, "memory://index"]);
  alices.bus.subscribe((event) => told.push(`alice ${event.kind}`));
  bobs.bus.subscribe((event) => told.push(event.kind === "resource_updated" ? `bob ${event.uri}` : "bob list"));
  await runtime.call("UpdateUserMemory", entry("a"), { userId: "bob" });
  await toldOf(runtime, "carol");
  alices.close();
  await runtime.call("UpdateUserMemory", entry("a"), { userId: "alice" });
  await toldOf(runtime, "carol");
  expect(told).toEqual([
    "bob memory://user-memory/index",
    "bob memory://user-memory/entry/a",
    "bob memory://index",
    "bob list",
  ]);
  bobs.close();
});

/** Resolves when all earlier commits have been reported. */
async function toldOf(runtime: Runtime, userId: string): Promise<void> {
  const feed = new ChangeFeed(runtime, userId);
  const told = new Promise<void>((resolve) =>
    feed.bus.subscribe((event) => event.kind === "resources_list_changed" && resolve()),
  );
  await runtime.call("UpdateUserMemory", entry("last"), { userId });
  await told;
  feed.close();
}

test("changes of watched resources within one turn of the event loop are reported once", async () => {
  const listeners: Parameters<Runtime["onChange"]>[0][] = [];
  const onChange: Runtime["onChange"] = (listener) => {
    listeners.push(listener);
    return () => {};
  };
  const tell = (paths: readonly string[]): void =>
    listeners[0]?.({ userId: "alice", files: paths.map((path) => ({ scope: "memory", path })) });
  const scopes = { indexScopes: ["memory"], entryScopes: ["memory"] };
  const family = { ...scopes, hasIndex: true, hasEntries: true, canRead: true };
  const families = () => [
    // Only the files of some families reveal the changed entry.
    { ...family, name: "one", entryFile: "{name}.md" },
    { ...family, name: "other", hasIndex: false, indexScopes: [] },
    { ...family, name: "indexed", entryScopes: ["journal"], entryFile: "{name}.md" },
    { ...family, name: "listed", indexScopes: ["journal"] },
    { ...family, name: "elsewhere", indexScopes: ["journal"], entryScopes: ["journal"] },
  ];
  const feed = new ChangeFeed({ onChange, onChangeElsewhere: () => () => {}, families }, "alice");
  const names = families().map(({ name }) => name);
  feed.watch([...names.flatMap((name) => [`memory://${name}/index`, `memory://${name}/entry/a`]), "memory://index"]);
  feed.watch(["memory://one/entry/c%20d", "memory://one/entry/%61", "memory://one/entry/trash", "nothing"]);
  feed.watch(["memory://one/entry/a", "memory://one/entry/only"]);
  feed.watch(["memory://other/entry/ended"])();
  const told: string[] = [];
  feed.bus.subscribe((event) => told.push(event.kind === "resource_updated" ? event.uri : event.kind));
  tell(["a.md", "trash/b.20260101T000000000Z.md"]);
  tell(["a.md", "c d.md"]);
  tell(["trash/only.md"]);
  await Promise.resolve();
  expect(told).toEqual([
    "memory://one/index",
    "memory://one/entry/a",
    "memory://other/entry/a",
    "memory://indexed/index",
    "memory://listed/entry/a",
    "memory://index",
    "memory://one/entry/c%20d",
    "memory://one/entry/%61",
    "resources_list_changed",
  ]);
});

test("an entry's name can have slashes; entries that nothing can read are no resources, so they never change", async () => {
  const listeners: Parameters<Runtime["onChange"]>[0][] = [];
  const onChange: Runtime["onChange"] = (listener) => {
    listeners.push(listener);
    return () => {};
  };
  const family = { hasIndex: false, hasEntries: true, indexScopes: [], entryFile: "{name}/run.json" };
  const families = () => [
    { ...family, name: "read", canRead: true, entryScopes: ["read"] },
    { ...family, name: "listed", canRead: false, entryScopes: ["listed"] },
  ];
  const feed = new ChangeFeed({ onChange, onChangeElsewhere: () => () => {}, families }, "alice");
  feed.watch(families().map(({ name }) => `memory://${name}/entry/agent%2Frun`));
  const told: string[] = [];
  feed.bus.subscribe((event) => told.push(event.kind === "resource_updated" ? event.uri : event.kind));
  for (const scope of ["listed", "read"]) {
    for (const path of ["run.json", "agent/run/000001.jsonl", "agent/run/run.json"]) {
      listeners[0]?.({ userId: "alice", files: [{ scope, path }] });
    }
    await Promise.resolve();
    told.push(scope);
  }
  expect(told).toEqual(["listed", "memory://read/entry/agent%2Frun", "resources_list_changed", "read"]);
});

test("the owner of a store is told of others' changes in it and of restored entries, and nobody else", async () => {
  await using runtime = await createRuntime({ store: memoryStore(), plugins: ["stores"], threadsMax: 1 });
  await runtime.stores({ userId: "alice" }).grant("bob", { level: "readwrite" });
  const uri = "memory://stores/entry/plan%2Emd";
  const told = ["alice", "bob"].map((userId) => {
    const feed = new ChangeFeed(runtime, userId);
    feed.watch([uri]);
    const events: string[] = [];
    feed.bus.subscribe((event) => events.push(event.kind));
    return events;
  });
  const path = `/memories/shared/${storeIdOf("alice")}/plan.md`;
  const bob = { userId: "bob" };
  expect(await runtime.call("memory", { command: "create", path, content: "x" }, bob)).toMatchObject({ ok: true });
  expect(await runtime.call("memory", { command: "delete", path }, bob)).toMatchObject({ ok: true });
  const [trashed] = await runtime.upkeep.listTrash({ userId: "alice" });
  await runtime.upkeep.restore({ userId: "alice" }, trashed?.name ?? "");
  await Promise.resolve();
  const change = ["resource_updated", "resources_list_changed"];
  expect(told).toEqual([[...change, ...change, ...change], []]);
});

test("a cancelled or answered listen request over standard input stops watching its resources", async () => {
  await using runtime = await createRuntime({ store: memoryStore(), plugins: ["journal"], threadsMax: 1 });
  const feed = new ChangeFeed(runtime, "alice");
  const listened = new ListenedResources(feed);
  const listen = (id: number): void => {
    const params = { notifications: { resourceSubscriptions: [`memory://journal/entry/${id}`] } };
    listened.read({ jsonrpc: "2.0", id, method: "subscriptions/listen", params });
  };
  for (let id = 0; id <= mcpLimits.listensMax; id++) listen(id);
  listened.read({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 0 } });
  listened.sent({ jsonrpc: "2.0", id: 1, error: { code: -32_602, message: "No" } });
  listened.sent({ jsonrpc: "2.0", id: 2, result: {} });
  listen(100);
  const told = new Set<string>();
  feed.bus.subscribe((event) => event.kind === "resource_updated" && told.add(event.uri));
  await runtime.call("memory_write", { key: "a", content: "x" }, { userId: "alice" });
  const ids = Array.from({ length: mcpLimits.listensMax - 3 }, (_, at) => at + 3);
  expect([...told]).toEqual([...ids, 100].map((id) => `memory://journal/entry/${id}`));
});

test("a connection watches a limited number of resources, and watching one again does not count twice", async () => {
  await using runtime = await createRuntime({ store: memoryStore(), threadsMax: 1 });
  const watched = new WatchedResources(new ChangeFeed(runtime, "alice"));
  for (let index = 0; index < mcpLimits.subscriptionsMax; index++) watched.add(`memory://user-memory/entry/${index}`);
  watched.add("memory://user-memory/entry/0");
  expect(() => watched.add("memory://user-memory/entry/beyond")).toThrow("at most 1024 allowed");
  watched.delete("memory://user-memory/entry/0");
  watched.add("memory://user-memory/entry/beyond");
  expect(watched.has("memory://user-memory/entry/beyond")).toBe(true);
});
