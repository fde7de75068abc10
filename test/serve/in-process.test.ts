/** A framework gets a user's MCP server inside the program, and no client of it leaves the user or gains trust. */
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import type { CallContext } from "memcell";
import { mcpServer } from "memcell/mcp";
import { afterAll, beforeAll, expect, test } from "vitest";

import { openStage } from "../stage/runtime.ts";
import type { RuntimeStage } from "../stage/runtime.ts";
import { entry } from "../stage/serve-lines.ts";

let stage: RuntimeStage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(async () => await stage[Symbol.asyncDispose]());

async function connected(ctx: CallContext, server = mcpServer(stage.runtime, ctx)): Promise<Client> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await server.connect(ours);
  const client = new Client({ name: "framework", version: "1" });
  await client.connect(theirs);
  return client;
}

test("each client has its user's memory alone, and the record says what the program has said", async () => {
  const [alice, bob] = [stage.user("alice"), stage.user("bob")];
  const origin = { class: "tool_internal", run: "chat-7" } as const;
  const [one, other] = await Promise.all([
    connected({ userId: alice, labels: { agent: "planner" }, origin, exposedTo: ["unstated"] }),
    connected({ userId: bob }),
  ]);
  const written = await one.callTool({ name: "UpdateUserMemory", arguments: { ...entry("plan") } });
  expect(written.isError).not.toBe(true);
  const read = { name: "ReadUserMemory", arguments: { name: "plan" } };
  expect((await one.callTool(read)).structuredContent).toMatchObject({ name: "plan" });
  expect((await other.callTool(read))._meta).toMatchObject({ "memcell/error": { code: "ENTRY_NOT_FOUND" } });
  expect((await other.listResources()).resources.map(({ uri }) => uri)).not.toContain(
    "memory://user-memory/entry/plan",
  );
  const [version] = await stage.runtime.upkeep.history({ userId: alice });
  expect(version).toMatchObject({ class: "tool_internal", trust: "unstated", run: "chat-7" });
  const labels = stage.records(alice).flatMap((record) => ("labels" in record ? [record.labels] : []));
  expect(labels[0]).toMatchObject({ via: "mcp-in-process", agent: "planner", client: "framework/1" });
});

test("a client can lower the trust of a request, and cannot raise it or change its run", async () => {
  const user = stage.user();
  const client = await connected({ userId: user, origin: { class: "tool_external", run: "mine" } });
  const stated = { class: "owner_edit", run: "theirs", exposedTo: ["untrusted_document"] };
  await client.callTool({
    name: "UpdateUserMemory",
    arguments: { ...entry("claim") },
    _meta: { "memcell/origin": stated },
  });
  const [waiting] = await stage.runtime.upkeep.pending({ userId: user });
  expect(waiting).toMatchObject({ class: "tool_external", trust: "untrusted_document", run: "mine" });
});

test("connections without a run are runs of their own", async () => {
  const user = stage.user();
  const server = mcpServer(stage.runtime, { userId: user });
  for (const name of ["one", "two"]) {
    const client = await connected({ userId: user }, server);
    await client.callTool({ name: "UpdateUserMemory", arguments: { ...entry(name) } });
  }
  const runs = (await stage.runtime.upkeep.history({ userId: user })).map(({ run }) => run);
  expect(new Set(runs).size).toBe(2);
});

test("closing the server or the context's signal ends every connection, and the runtime goes on", async () => {
  const aborted = new AbortController();
  const ctx = { userId: stage.user(), signal: aborted.signal };
  for (const end of [(server: { close(): Promise<void> }) => server.close(), () => Promise.resolve(aborted.abort())]) {
    const server = mcpServer(stage.runtime, ctx);
    const clients = [await connected(ctx, server), await connected(ctx, server)];
    const ended = clients.map(
      (client) =>
        new Promise<void>((resolve) => {
          // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a Client is no EventTarget
          client.onclose = resolve;
        }),
    );
    await end(server);
    await Promise.all(ended);
  }
  expect((await stage.runtime.call("ReadUserMemory", { name: "none" }, { userId: ctx.userId })).ok).toBe(false);
});

test.for([
  ["a user that no one can be", { userId: "../alice" }, "USER_INVALID"],
  ["an origin's class that there is not", { userId: "a", origin: { class: "untrusted" } }, "INPUT_INVALID"],
  ["an exposure that there is not", { userId: "a", exposedTo: ["web"] }, "INPUT_INVALID"],
  ["a field that there is not", { userId: "a", callid: "1" }, "INPUT_INVALID"],
] as const)("%s is refused at once", ([, ctx, code]) => {
  expect(() => mcpServer(stage.runtime, ctx as CallContext)).toThrow(expect.objectContaining({ code }));
});

test("a transport that ends as it starts, or fails to end, does not end the program", async () => {
  const ends = new AbortController();
  const server = mcpServer(stage.runtime, { userId: stage.user(), signal: ends.signal });
  const [first] = InMemoryTransport.createLinkedPair();
  first.start = () => Promise.resolve(first.onclose?.());
  const [last] = InMemoryTransport.createLinkedPair();
  last.close = () => {
    throw new Error("the pipe is broken");
  };
  await Promise.all([server.connect(first), server.connect(last)]);
  ends.abort();
  await server.close().catch(() => null);
});

test("nobody connects to a server that has ended", async () => {
  const closed = mcpServer(stage.runtime, { userId: stage.user() });
  await closed.close();
  for (const server of [closed, mcpServer(stage.runtime, { userId: "a", signal: AbortSignal.abort() })])
    await expect(server.connect(InMemoryTransport.createLinkedPair()[0])).rejects.toMatchObject({ code: "CLOSED" });
});
