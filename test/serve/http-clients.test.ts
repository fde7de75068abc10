/** The official clients over HTTP: the current SDK in both revisions, and the previous SDK. */
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StreamableHTTPClientTransport as FormerTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

import { openHttpStage } from "../stage/http.ts";
import type { HttpStage } from "../stage/http.ts";
import { clientKinds, connectOver } from "../stage/mcp-clients.ts";
import type { ClientKind, Connected } from "../stage/mcp-clients.ts";

let stage: HttpStage;
beforeAll(async () => {
  stage = await openHttpStage();
});
beforeEach(() => stage.forget());
afterAll(async () => await stage[Symbol.asyncDispose]());

/** A client that watches the index in its revision's way. */
async function connect(user: string, kind: ClientKind): Promise<Connected> {
  const requestInit = { headers: { authorization: `Bearer ${await stage.issuer.token(user)}` } };
  const Transport = kind === "former SDK" ? FormerTransport : StreamableHTTPClientTransport;
  const connected = await connectOver(kind, new Transport(new URL(stage.url), { requestInit }));
  await connected.watch(["memory://index"]);
  return connected;
}

const entry = { action: "upsert", name: "editor", type: "user", description: "Uses Helix", body: "Helix it is." };

test.for(clientKinds)(
  "a client (%s) lists, calls, reads and gets notifications, for its own user only",
  async (kind) => {
    await using alice = await connect(stage.user("alice"), kind);
    await using bob = await connect(stage.user("bob"), kind);

    expect((await alice.client.listTools()).tools.map(({ name }) => name)).toContain("UpdateUserMemory");
    const written = await alice.client.callTool({ name: "UpdateUserMemory", arguments: entry });
    expect(written.isError ?? false).toBe(false);
    expect(await alice.nextChange()).toEqual(["memory://index"]);
    const read = await alice.client.callTool({ name: "ReadUserMemory", arguments: { name: "editor" } });
    expect(read.structuredContent).toMatchObject({ body: "Helix it is." });
    expect(JSON.stringify(await alice.client.readResource({ uri: "memory://index" }))).toContain("Uses Helix");
    const { contents } = await alice.client.readResource({ uri: "memory://user-memory/entry/editor" });
    expect(contents).toMatchObject([{ text: "Helix it is." }]);
    expect(JSON.stringify(await alice.client.getPrompt({ name: "memory" }))).toContain("Uses Helix");

    const others = await bob.client.callTool({ name: "ReadUserMemory", arguments: { name: "editor" } });
    expect(others).toMatchObject({ isError: true, _meta: { "memcell/error": { code: "ENTRY_NOT_FOUND" } } });
    expect(JSON.stringify(await bob.client.readResource({ uri: "memory://index" }))).not.toContain("Helix");
    // The first change reported to bob is his own.
    const fromBob = bob.nextChange();
    await bob.client.callTool({ name: "UpdateUserMemory", arguments: { ...entry, name: "shell" } });
    expect(await fromBob).toEqual(["memory://index"]);
    expect(stage.refusals).toEqual([]);
    expect(stage.log.filter(({ level }) => level === "error")).toEqual([]);
  },
);
