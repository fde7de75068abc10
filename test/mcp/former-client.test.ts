/** A client of the previous SDK over HTTP gets the same as clients of the current one. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, expect, test } from "vitest";

import { openHttpStage } from "../serve/http-stage.ts";
import type { HttpStage } from "../serve/http-stage.ts";

const entry = { action: "upsert", name: "editor", type: "user", description: "Uses Helix", body: "Helix it is." };
let stage: HttpStage;
let client: Client;

beforeAll(async () => {
  stage = await openHttpStage();
  client = new Client({ name: "former", version: "1" });
  const headers = { authorization: `Bearer ${await stage.issuer.token("alice")}` };
  const transport = new StreamableHTTPClientTransport(new URL(stage.url), { requestInit: { headers } });
  await client.connect(transport);
});

afterAll(async () => {
  await client.close();
  await stage[Symbol.asyncDispose]();
});

test("calls tools and accepts their schemas and answers", async () => {
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["UpdateUserMemory", "ReadUserMemory"]));
  await client.callTool({ name: "UpdateUserMemory", arguments: entry });
  const read = await client.callTool({ name: "ReadUserMemory", arguments: { name: "editor" } });
  expect(read.structuredContent).toMatchObject({ body: "Helix it is." });
  const none = await client.callTool({ name: "ReadUserMemory", arguments: { name: "none" } });
  expect(none).toMatchObject({ isError: true, _meta: { "memcell/error": { code: "ENTRY_NOT_FOUND" } } });
});

test("reads resources and the prompt", async () => {
  const { resources } = await client.listResources();
  const indexes = ["memory://index", "memory://journal/index", "memory://stores/index", "memory://user-memory/index"];
  expect(resources.map(({ uri }) => uri)).toEqual([...indexes, "memory://user-memory/entry/editor"]);
  const { contents } = await client.readResource({ uri: "memory://user-memory/entry/editor" });
  expect(contents).toMatchObject([{ text: "Helix it is." }]);
  const { messages } = await client.getPrompt({ name: "memory" });
  expect(JSON.stringify(messages)).toContain("Uses Helix");
});

test("is notified of a change of what it watches", async () => {
  const told = new Promise((resolve) => {
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => resolve(params.uri));
  });
  await client.subscribeResource({ uri: "memory://user-memory/entry/editor" });
  await client.callTool({ name: "UpdateUserMemory", arguments: { ...entry, body: "It is Kakoune now." } });
  expect(await told).toBe("memory://user-memory/entry/editor");
});
