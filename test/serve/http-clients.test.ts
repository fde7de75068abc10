/** The official clients over HTTP: the current SDK in both revisions, and the previous SDK. */
import { EventEmitter, once } from "node:events";

import type { Client } from "@modelcontextprotocol/client";
import { Client as FormerClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as FormerTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, test } from "vitest";

import { openHttpStage } from "./http-stage.ts";
import type { HttpStage } from "./http-stage.ts";

const kinds = ["2026-07-28", "legacy", "former SDK"] as const;
type Kind = (typeof kinds)[number];

interface Connected {
  /** The previous client has the same methods. */
  readonly client: Client;
  /** Resolves to the URI of the next changed resource. */
  readonly nextChange: () => Promise<string>;
}

/** A client that watches the index in its revision's way. */
async function connect(stage: HttpStage, user: string, kind: Kind): Promise<Connected> {
  const token = await stage.issuer.token(user);
  const uris: string[] = [];
  const changes = new EventEmitter();
  const told = (uri: string): void => {
    uris.push(uri);
    changes.emit("change");
  };
  const nextChange = async (): Promise<string> => {
    if (uris.length === 0) await once(changes, "change");
    return uris.shift() ?? "";
  };
  if (kind === "former SDK") {
    const former = new FormerClient({ name: "former", version: "1" });
    former.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => told(params.uri));
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    await former.connect(new FormerTransport(new URL(stage.url), { requestInit }));
    await former.subscribeResource({ uri: "memory://index" });
    return { client: former as unknown as Client, nextChange };
  }
  const client = await stage.client(token, kind);
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => told(params.uri));
  if (kind === "legacy") await client.subscribeResource({ uri: "memory://index" });
  else await client.listen({ resourceSubscriptions: ["memory://index"] });
  return { client, nextChange };
}

const entry = { action: "upsert", name: "editor", type: "user", description: "Uses Helix", body: "Helix it is." };

test.for(kinds)("a client (%s) lists, calls, reads and gets notifications, for its own user only", async (kind) => {
  await using stage = await openHttpStage();
  const alice = await connect(stage, "alice", kind);
  const bob = await connect(stage, "bob", kind);

  expect((await alice.client.listTools()).tools.map(({ name }) => name)).toContain("UpdateUserMemory");
  const written = await alice.client.callTool({ name: "UpdateUserMemory", arguments: entry });
  expect(written.isError ?? false).toBe(false);
  expect(await alice.nextChange()).toBe("memory://index");
  const read = await alice.client.callTool({ name: "ReadUserMemory", arguments: { name: "editor" } });
  expect(read.structuredContent).toMatchObject({ body: "Helix it is." });
  expect(JSON.stringify(await alice.client.readResource({ uri: "memory://index" }))).toContain("Uses Helix");

  const others = await bob.client.callTool({ name: "ReadUserMemory", arguments: { name: "editor" } });
  expect(others.isError).toBe(true);
  expect(JSON.stringify(await bob.client.readResource({ uri: "memory://index" }))).not.toContain("Helix");
  // The first change reported to bob is his own.
  const fromBob = bob.nextChange();
  await bob.client.callTool({ name: "UpdateUserMemory", arguments: { ...entry, name: "shell" } });
  expect(await fromBob).toBe("memory://index");
  await bob.client.close();
  await alice.client.close();
  expect(stage.refusals).toEqual([]);
  expect(stage.log.filter(({ level }) => level === "error")).toEqual([]);
});
