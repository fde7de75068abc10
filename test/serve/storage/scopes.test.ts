/** The storage routes of a server that is read-only, whose policy takes something away, or whose tokens need scopes. */
import { join } from "node:path";

import { expect, test } from "vitest";

import { temporaryFolder } from "../../support/temporary-folder.ts";
import type { HttpStageOptions } from "../http-stage.ts";
import { entriesPath, notesPath, openStorageStage, weather, writeAgentKeys } from "./stage.ts";
import type { StorageClient, StorageStage } from "./stage.ts";

const scopes = { claim: "scope", read: "memcell:read", write: "memcell:write" };
const pushed = { op: "put", namespace: "owner", key: "m", at: "2026-01-02T03:04:05.000Z", content: "c" };
const note = { namespace: "owner", key: "n", content: "c" };

const reads: readonly string[] = [
  `${entriesPath}/k`,
  entriesPath,
  `${entriesPath}?action=search&q=v`,
  `${entriesPath}?action=stores`,
  `${notesPath}?action=get&namespace=owner&key=n`,
  `${notesPath}?action=list`,
  `${notesPath}?action=search&q=c`,
  `${notesPath}?action=sync&namespace=owner`,
];

const writes: readonly (readonly [method: string, path: string, body?: object])[] = [
  ["PUT", `${entriesPath}/k`, { value: "w" }],
  ["DELETE", `${entriesPath}/k`],
  ["PUT", `${entriesPath}/k`, { value: "w", inContext: false }],
  ["POST", `${entriesPath}?action=share`, { grantee: "planner" }],
  ["DELETE", `${entriesPath}?action=share&grantee=planner`],
  ["PUT", notesPath, note],
  ["DELETE", `${notesPath}?namespace=owner&key=n`],
  ["POST", `${notesPath}?action=sync`, { namespace: "owner", lines: [pushed] }],
];

async function fill(client: StorageClient): Promise<void> {
  expect((await client("PUT", `${entriesPath}/k`, { value: "v" })).status).toBe(200);
  expect((await client("PUT", notesPath, note)).status).toBe(200);
}

async function expectKept(client: StorageClient): Promise<void> {
  expect(await client("GET", `${entriesPath}/k`)).toMatchObject({ status: 200, body: { value: "v" } });
  expect(await client("GET", `${notesPath}?action=get&namespace=owner&key=n`)).toMatchObject({
    body: { entry: { content: "c" } },
  });
}

/** A client whose tokens have a scope. */
function clientWith(stage: StorageStage, scope: string): StorageClient {
  return async (method, path, body, asked = {}) => {
    const token = await stage.issuer.token(weather, { claims: { scope } });
    return await stage.as(weather)(method, path, body, {
      ...asked,
      headers: { ...asked.headers, authorization: `Bearer ${token}` },
    });
  };
}

test("a token that may only read gets everything and changes nothing; one without a scope gets nothing", async () => {
  await using stage = await openStorageStage({}, { token: { scopes } });
  const [reader, writer, nobody] = ["memcell:read", "openid memcell:write", "openid"].map((each) =>
    clientWith(stage, each),
  );
  if (!reader || !writer || !nobody) throw new Error("There are three clients");
  await fill(writer);
  for (const path of reads) {
    expect((await reader("GET", path)).status).toBe(200);
    expect(await nobody("GET", path)).toEqual({ status: 403, body: { error: "insufficient_scope" } });
  }
  const before = stage.refusals.length;
  for (const [method, path, body] of writes) {
    expect(await reader(method, path, body)).toEqual({ status: 403, body: { error: "insufficient_scope" } });
  }
  expect(stage.refusals.slice(before)).toEqual(
    writes.map(() => ({ surface: "http", reason: "token-scope", userId: weather, peer: "127.0.0.1" })),
  );
  await expectKept(reader);
  for (const [method, path, body] of writes) {
    expect({ method, path, answer: await writer(method, path, body) }).toMatchObject({ answer: { status: 200 } });
  }
});

test("the refusal of a change names the scope that it needs", async () => {
  await using stage = await openStorageStage({}, { token: { scopes } });
  const token = await stage.issuer.token(weather, { claims: { scope: "memcell:read" } });
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const answer = await stage.ask({ method: "DELETE", path: "/api/storage/memory/k", headers });
  expect(answer.headers["www-authenticate"]).toBe('Bearer error="insufficient_scope", scope="memcell:write"');
});

test("an agent's key is no token and needs no scope", async () => {
  using folder = temporaryFolder();
  const key = "k".repeat(32);
  const agentKeys = writeAgentKeys(folder.path, { [weather]: key });
  await using stage = await openStorageStage({ agentKeys }, { token: { scopes } });
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const body = JSON.stringify({ value: "v" });
  expect((await stage.ask({ method: "PUT", path: "/api/storage/memory/k", headers, body })).status).toBe(200);
});

const takenAway: readonly { readonly name: string; readonly options: (dataDir: string) => HttpStageOptions }[] = [
  { name: "a server that is read-only", options: (dataDir) => ({ runtime: { dataDir, readOnly: true } }) },
  {
    name: "a server whose policy grants the stores only reading",
    options: (dataDir) => {
      const reading = { rights: ["read", "list", "clock", "search", "grant_list"], scopes: ["store:*"] } as const;
      const tools = { memory: reading, CallerNotes: { ...reading, audience: "host" } } as const;
      return { runtime: { dataDir, policy: { version: 1, plugins: { stores: { tools } } } } };
    },
  },
];

test.for(takenAway)("$name answers reads, and says of changes that they are not available", async ({ options }) => {
  using folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  {
    await using stage = await openStorageStage({}, { runtime: { dataDir } });
    await fill(stage.as(weather));
  }
  await using stage = await openStorageStage({}, options(dataDir));
  const client = stage.as(weather);
  for (const path of reads) expect((await client("GET", path)).status).toBe(200);
  for (const [method, path, body] of writes) {
    const isSharing = path.includes("share");
    const error = isSharing ? "Sharing is turned off on this server" : "Not available on this server";
    expect(await client(method, path, body)).toEqual({ status: 403, body: { error } });
  }
  await expectKept(client);
});
