/** Who may use the storage routes: tokens, and one user; and what is refused before anything is called. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { Asked } from "../http-requests.ts";
import { openHttpStage } from "../http-stage.ts";
import { openStorageStage, refused, refusedOf, weather } from "./stage.ts";
import type { StorageStage } from "./stage.ts";

let stage: StorageStage;
beforeAll(async () => {
  stage = await openStorageStage({}, { bodyBytesMax: 150_000 });
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

const memory = "/api/storage/memory";
const notes = "/api/storage/memory-scoped";
const json = { "content-type": "application/json" };

test("without the setting there are no storage routes", async () => {
  await using closed = await openHttpStage();
  const authorization = `Bearer ${await closed.issuer.token(weather)}`;
  for (const path of [memory, `${memory}/k`, notes, `${memory}?action=stores`]) {
    const { status } = await closed.ask({ method: "GET", path, headers: { authorization } });
    expect(status).toBe(404);
  }
});

describe("one user without tokens", () => {
  test("has its own memory, and no other user's", async () => {
    await using one = await openStorageStage({}, { access: { kind: "one-user", userId: "alice" } });
    const put = { method: "PUT", headers: json };
    expect(await one.ask({ ...put, path: `${memory}/k`, body: '{"value":1,"agentId":"alice"}' })).toMatchObject({
      status: 200,
    });
    expect(await one.ask({ ...put, path: `${memory}/k`, body: '{"value":1,"agentId":"bob"}' })).toMatchObject({
      status: 403,
    });
    const authorization = `Bearer ${await one.issuer.token("alice")}`;
    expect(await one.ask({ method: "GET", path: memory, headers: { authorization } })).toMatchObject({ status: 400 });
  });
});

const asWeather = async (asked: Asked): Promise<Asked> => ({
  ...asked,
  headers: { authorization: `Bearer ${await stage.issuer.token(weather)}`, ...asked.headers },
});

describe("a request is refused, on record,", () => {
  test("without a token", async () => {
    for (const path of [memory, `${memory}/k`, notes]) {
      expect(await refusedOf(stage, { method: "GET", path })).toEqual(
        refused(401, "A bearer token is needed", "token-missing"),
      );
    }
  });

  test.each([
    ["PATCH", `${memory}/k`, "GET, PUT, DELETE"],
    ["POST", `${memory}/k`, "GET, PUT, DELETE"],
    ["HEAD", `${memory}/k`, "GET, PUT, DELETE"],
    ["OPTIONS", `${memory}/k`, "GET, PUT, DELETE"],
    ["PUT", memory, "GET, POST, DELETE"],
    ["PATCH", notes, "GET, PUT, POST, DELETE"],
  ])("with the method %s at %s", async (method, path, allow) => {
    const before = stage.refusals.length;
    const answer = await stage.ask(await asWeather({ method, path }));
    expect([answer.status, answer.headers.allow]).toEqual([405, allow]);
    if (method !== "HEAD") expect(JSON.parse(answer.body)).toEqual({ error: "Method not allowed" });
    expect(stage.refusals.slice(before)).toMatchObject([{ reason: "method-unknown" }]);
  });

  test.each([
    "/api/storage",
    "/api/storage/",
    "/api/storage/memories",
    "/api/storage/memory-scoped/",
    "/api/storage/memory-scoped/k",
    "/api/storage//memory",
    "/api/storage/memory;x=1",
    "/api/storage/Memory",
    "/api/storage/%6demory",
    "/api/storage/json/c/1",
    "/api/storage/files",
    "/api/storage/other?action=stores",
  ])("at the path %s", async (path) => {
    const asked = await asWeather({ method: "GET", path });
    expect(await refusedOf(stage, asked)).toEqual(refused(404, "Not found", "path-unknown"));
  });

  test.each(["//api/storage/memory", "/x/../api/storage/memory", "/api/storages"])(
    "at %s, which is not below the routes",
    async (path) => {
      expect(await refusedOf(stage, await asWeather({ method: "GET", path }))).toMatchObject({
        status: 404,
        refusals: [["path-unknown", null]],
      });
    },
  );

  const put = { method: "PUT", path: `${memory}/k` };
  test.each([
    ["body-type", 415, { body: "value=1", headers: { "content-type": "application/x-www-form-urlencoded" } }],
    ["body-type", 415, { body: '{"value":1}' }],
    ["body-type", 415, { body: '{"value":1}', headers: { ...json, "content-encoding": "gzip" } }],
    ["body-too-large", 413, { body: JSON.stringify({ value: "x".repeat(150_000) }), headers: json }],
    ["body-unfit", 400, { body: '{"value":1', headers: json }],
    ["body-unfit", 400, { body: '{"value":1,"value":2}', headers: json }],
    ["body-unfit", 400, { body: '{"value":1,"store":"a","store":"b"}', headers: json }],
    ["body-unfit", 400, { body: '{"__proto__":{"store":"a"},"value":1}', headers: json }],
    ["body-unfit", 400, { body: `{"value":${"[".repeat(70)}${"]".repeat(70)}}`, headers: json }],
    ["body-unfit", 400, { body: Buffer.from([0x22, 0xff, 0x22]), headers: json }],
    ["storage-unfit", 400, { body: "[]", headers: json }],
    ["storage-unfit", 400, { body: "null", headers: json }],
    ["storage-unfit", 400, { body: '"value"', headers: json }],
    ["storage-unfit", 400, { body: '{"value":1,"owner":"planner"}', headers: json }],
    ["storage-unfit", 400, { body: '{"value":1,"ownerId":"planner"}', headers: json }],
    ["storage-unfit", 400, { body: '{"value":1,"agentId":["planner"]}', headers: json }],
    ["storage-other-agent", 403, { body: '{"value":1,"agentId":"planner"}', headers: json }],
  ] as const)("as %s (%i), with a body such as %o", async (reason, status, asked) => {
    expect(await refusedOf(stage, await asWeather({ ...put, ...asked }))).toMatchObject({
      status,
      refusals: [[reason, weather]],
    });
  });

  test.each([
    `${memory}?agentId=${weather}&agentId=planner`,
    `${memory}?store=${weather}&store=${weather}`,
    `${memory}?%73tore=${weather}&store=${weather}`,
    `${memory}?owner=planner`,
    `${memory}?caller=planner`,
    `${memory}?Store=planner`,
    `${memory}?store[]=planner`,
    `${memory}?action=search&action=stores`,
    `${memory}?action=search`,
    `${memory}?action=get&key=k`,
    `${memory}?a=%ff`,
    `${memory}?prefix=%zz`,
    `${memory}?${Array.from({ length: 65 }, (_, at) => `p${at}`).join("&")}`,
    `${memory}?store=../planner`,
    `${memory}?store=7F3C2A10-5B6E-4C8D-9E1F-0A2B3C4D5E6F`,
    `${memory}?store=urn:uuid:${weather}`,
    `${memory}?store=00000000-0000-0000-0000-000000000000`,
    `${memory}/k?inContext=true`,
    `${memory}/k?x`,
  ])("with the query of %s", async (path) => {
    expect(await refusedOf(stage, await asWeather({ method: "GET", path }))).toMatchObject({
      status: 400,
      refusals: [["storage-unfit", weather]],
    });
  });

  test.each(["planner", "undefined", weather.toUpperCase(), `${weather} `, `${weather}%00`])(
    "with the agent's id %o",
    async (agentId) => {
      expect(
        await refusedOf(
          stage,
          await asWeather({ method: "GET", path: `${memory}?agentId=${agentId.replace(" ", "%20")}` }),
        ),
      ).toEqual(refused(403, "Access denied to this store", "storage-other-agent", weather));
    },
  );

  test("with another server's name, of a page of another origin, and beyond its rate", async () => {
    const asked = { method: "GET", path: memory };
    expect(await refusedOf(stage, await asWeather({ ...asked, headers: { host: "evil.example" } }))).toMatchObject({
      status: 403,
    });
    expect(
      await refusedOf(stage, await asWeather({ ...asked, headers: { origin: "https://evil.example" } })),
    ).toMatchObject({ status: 403 });
    await using slow = await openStorageStage({}, { requestsPerMinute: 2 });
    const client = slow.as(weather);
    const statuses = [await client("GET", "memory"), await client("GET", "memory"), await client("GET", "memory")];
    expect(statuses.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(slow.refusals).toMatchObject([{ reason: "user-limited", userId: weather }]);
  });
});

test("the server does not start without the plugin, or with MCP in the place of the routes", async () => {
  await expect(openStorageStage({}, { runtime: { plugins: ["journal"] } })).rejects.toThrow(
    'the plugin "stores" is not loaded, allowed: with --plugin stores',
  );
  await expect(openStorageStage({}, { path: "/api/storage/memory" })).rejects.toThrow("the storage routes are below");
});
