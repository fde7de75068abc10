/** Clients are notified of changes in the memory that they watch, and of nothing else. */
import { join } from "node:path";

import { InMemoryTransport, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { InMemoryTransport as FormerInMemory } from "@modelcontextprotocol/sdk/inMemory.js";
import { storeIdOf } from "memcell";
import { mcpServer } from "memcell/mcp";
import { afterAll, beforeAll, expect, test } from "vitest";

import { openHttpStage } from "../stage/http.ts";
import type { HttpStage } from "../stage/http.ts";
import { clientKinds, connect, connectOver } from "../stage/mcp-clients.ts";
import type { ClientKind, Connected } from "../stage/mcp-clients.ts";
import { ServeLines, entry, serveHere } from "../stage/serve-lines.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { writeUserFiles } from "../support/user-files.ts";

let stage: HttpStage;
beforeAll(async () => {
  stage = await openHttpStage();
});
afterAll(async () => await stage[Symbol.asyncDispose]());

/** Connects a client as a user of its own. Nothing but the transport differs. */
const ways = {
  "standard input and output": (kind: ClientKind): Promise<Connected> =>
    connect(kind, [
      "--user",
      "alice",
      "--data",
      join(stage.folder, kind),
      "--plugin",
      "user-memory",
      "--plugin",
      "journal",
    ]),
  HTTP: async (kind: ClientKind): Promise<Connected> => {
    const requestInit = { headers: { authorization: `Bearer ${await stage.issuer.token(stage.user("alice"))}` } };
    return await connectOver(kind, new StreamableHTTPClientTransport(new URL(stage.url), { requestInit }));
  },
  "the same process": async (kind: ClientKind): Promise<Connected> => {
    const Transport = kind === "former SDK" ? FormerInMemory : InMemoryTransport;
    const [ours, theirs] = Transport.createLinkedPair();
    await mcpServer(stage.runtime, { userId: stage.user("alice") }).connect(ours);
    return await connectOver(kind, theirs);
  },
};

/** Over HTTP, the 2025 revisions have no notices of changes. */
const isTold = ({ kind, way }: { readonly kind: ClientKind; readonly way: string }): boolean =>
  way !== "HTTP" || kind === "2026-07-28";
const pairs = clientKinds.flatMap((kind) => Object.entries(ways).map(([way, open]) => ({ kind, way, open })));

test.for(pairs.filter(isTold))(
  "a client ($kind) over $way is told of what it watches, by no call that fails or only reads",
  async ({ kind, open }) => {
    await using served = await open(kind);
    const { client } = served;
    const toldBy = async (...calls: readonly (readonly [name: string, input: object])[]): Promise<string[]> => {
      const told = served.nextChange();
      for (const [name, input] of calls) await client.callTool({ name, arguments: { ...input } });
      return await told;
    };
    const [index, watched] = ["memory://index", "memory://user-memory/entry/watched"];
    // Their files do not reveal the names of entries in the journal, and a client uses the URI that it likes.
    const ofJournal = ["memory://journal/entry/a%2Db", "memory://journal/entry/not-there-yet"];
    await served.watch([index, watched, ...ofJournal]);
    const [deleted, read] = [{ action: "delete", name: "watched" }, { name: "watched" }];
    const failing = [
      ["UpdateUserMemory", deleted],
      ["ReadUserMemory", read],
    ] as const;
    expect(await toldBy(...failing, ["UpdateUserMemory", entry("watched")])).toEqual([index, watched]);
    expect((await client.readResource({ uri: watched })).contents).toMatchObject([{ text: "b" }]);
    expect(JSON.stringify(await client.getPrompt({ name: "memory" }))).toContain("What watched is");
    expect(await toldBy(["UpdateUserMemory", entry("other")])).toEqual([index]);
    expect(await toldBy(["UpdateUserMemory", deleted])).toEqual([index, watched]);
    expect(await toldBy(["memory_write", { key: "a-b", content: "one" }])).toEqual([index, ...ofJournal]);
    if (kind === "2026-07-28") return;
    await client.unsubscribeResource({ uri: watched });
    expect(await toldBy(["UpdateUserMemory", entry("watched")])).toEqual([index]);
  },
);

/** What a user's stream reports of these resources, in order. */
async function watching(userId: string, resourceSubscriptions: string[]): Promise<string[]> {
  const client = await stage.client(await stage.issuer.token(userId));
  const told: string[] = [];
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => void told.push(params.uri));
  client.setNotificationHandler("notifications/resources/list_changed", () => void told.push("list"));
  await client.listen({ resourceSubscriptions, resourcesListChanged: true });
  return told;
}

test("a change is reported once for each spelling of a resource that it affects, and to its own user", async () => {
  const [alice, bob] = [stage.user("alice"), stage.user("bob")];
  writeUserFiles(stage.dataDir, { [alice]: { "runs/planner/run-1/000001.jsonl": "" } });
  const uris = [
    ["memory://user-memory/index", "memory://user-memory/entry/a", "memory://user-memory/entry/%61"],
    ["memory://index", "memory://user-memory/entry/b", "memory://user-memory/entry/trash", "nothing"],
    ["memory://journal/index", "memory://journal/entry/a", "memory://run-history/entry/planner%2Frun-1"],
  ].flat();
  const told = await watching(alice, uris);
  const others = await watching(bob, uris);
  await stage.runtime.call("UpdateUserMemory", entry("a"), { userId: alice });
  while (!told.includes("list")) await stage.rpc(await stage.issuer.token(alice), "tools/list");
  expect(told.slice(0, told.indexOf("list")).toSorted()).toEqual([
    "memory://index",
    "memory://user-memory/entry/%61",
    "memory://user-memory/entry/a",
    "memory://user-memory/index",
  ]);
  // A file in the trash is no entry.
  await stage.runtime.call("UpdateUserMemory", { action: "delete", name: "a" }, { userId: alice });
  await stage.runtime.call("memory_write", { key: "a", content: "one" }, { userId: alice });
  while (!told.includes("memory://journal/entry/a")) await stage.rpc(await stage.issuer.token(alice), "tools/list");
  expect(told).not.toContain("memory://user-memory/entry/trash");
  expect(told).not.toContain("memory://user-memory/entry/b");
  expect(told.filter((uri) => uri.includes("run-history"))).toEqual([]);
  expect(others).toEqual([]);
});

test("the owner of a store is told of others' changes in it and of restored entries, and nobody else", async () => {
  const [alice, bob] = [stage.user("alice"), stage.user("bob")];
  await stage.runtime.stores({ userId: alice }).grant(bob, { level: "readwrite" });
  const uri = "memory://stores/entry/plan%2Emd";
  const [told, others] = [await watching(alice, [uri]), await watching(bob, [uri])];
  const path = `/memories/shared/${storeIdOf(alice)}/plan.md`;
  const by = { userId: bob };
  for (const input of [
    { command: "create", path, content: "x" },
    { command: "delete", path },
  ]) {
    expect(await stage.runtime.call("memory", input, by)).toMatchObject({ ok: true });
  }
  const [trashed] = await stage.runtime.upkeep.listTrash({ userId: alice });
  await stage.runtime.upkeep.restore({ userId: alice }, trashed?.name ?? "");
  while (told.length < 6) await stage.rpc(await stage.issuer.token(alice), "tools/list");
  expect([told, others]).toEqual([[uri, "list", uri, "list", uri, "list"], []]);
});

const modernMeta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "raw", version: "0" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

test("a connection has a limited number of streams, and a cancelled one stops watching", async () => {
  using folder = temporaryFolder();
  await using served = new ServeLines(serveHere(["--user", "alice", "--data", folder.path, "--plugin", "journal"]));
  const listen = (id: number): void => {
    const notifications = { resourceSubscriptions: [`memory://journal/entry/${id}`] };
    served.send({ id, method: "subscriptions/listen", params: { notifications, _meta: modernMeta } });
  };
  // 32 are allowed.
  for (let id = 1_000; id < 1_032; id++) listen(id);
  const write = async (key: string): Promise<void> => {
    const params = { name: "memory_write", arguments: { key, content: "x" }, _meta: modernMeta };
    expect(await served.ask("tools/call", params)).toMatchObject({ result: { structuredContent: { success: true } } });
  };
  const told = (): string[] =>
    served.notified
      .splice(0)
      .filter(({ method }) => method === "notifications/resources/updated")
      .map(({ params }) => String(params["uri"]).replace(/.*\//, ""));
  await write("a");
  expect(told().toSorted()).toEqual(Array.from({ length: 32 }, (_, at) => String(1_000 + at)));
  served.send({ method: "notifications/cancelled", params: { requestId: 1_000 } });
  await write("b");
  expect(told()).not.toContain("1000");
  for (const id of [1_100, 1_101]) listen(id);
  await write("c");
  const last = told();
  expect([last.length, last.includes("1100"), last.includes("1101")]).toEqual([32, true, false]);
});

test("a connection watches a limited number of resources, and watching one again does not count twice", async () => {
  using folder = temporaryFolder();
  await using served = await ServeLines.open(["--user", "alice", "--data", folder.path]);
  const ask = async (method: string, name: string | number): Promise<string> => {
    const { error } = await served.ask(`resources/${method}`, { uri: `memory://user-memory/entry/${name}` });
    return error?.message ?? "done";
  };
  for (let index = 0; index < 1_024; index++) expect(await ask("subscribe", index)).toBe("done");
  expect(await ask("subscribe", 0)).toBe("done");
  expect(await ask("subscribe", "beyond")).toContain("at most 1024 allowed");
  expect(await ask("unsubscribe", 0)).toBe("done");
  expect(await ask("subscribe", "beyond")).toBe("done");
});
