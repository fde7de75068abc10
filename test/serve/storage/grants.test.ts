/** `/api/storage/memory`: grants, and what programs set out of sight of models. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { policyFor } from "../../support/policy-for.ts";
import { shippedPlugin } from "../../support/test-plugin.ts";
import { openStorageStage, planner, plannerStore, weather } from "./stage.ts";
import type { StorageClient, StorageStage } from "./stage.ts";

let stage: StorageStage;
let own: StorageClient;
let theirs: StorageClient;

beforeAll(async () => {
  stage = await openStorageStage();
  [own, theirs] = [stage.as(weather), stage.as(planner)];
});
afterAll(async () => await stage[Symbol.asyncDispose]());

describe("grants", () => {
  test("each level opens what it says, and a search opens no listing", async () => {
    await own("PUT", "memory/tea", { value: "green tea" });
    const at = `store=${weather}`;
    const statuses = async (): Promise<number[]> => {
      const answers = [
        await theirs("GET", `memory?action=search&q=tea&${at}`),
        await theirs("GET", `memory/tea?${at}`),
        await theirs("GET", `memory?${at}`),
        await theirs("PUT", "memory/x", { value: 1, store: weather }),
        await theirs("DELETE", `memory/x?${at}`),
        await theirs("POST", "memory?action=share", { store: weather, grantee: "carol" }),
        await theirs("DELETE", `memory?action=share&grantee=carol&${at}`),
      ];
      return answers.map(({ status }) => status);
    };
    expect(await statuses()).toEqual([403, 403, 403, 403, 403, 403, 403]);
    for (const [level, expected] of [
      ["search", [200, 403, 403, 403, 403, 403, 403]],
      ["read", [200, 200, 200, 403, 403, 403, 403]],
      ["readwrite", [200, 200, 200, 200, 200, 403, 403]],
    ] as const) {
      expect(await own("POST", "memory?action=share", { grantee: plannerStore, level })).toMatchObject({ status: 200 });
      expect(await statuses()).toEqual(expected);
    }
    expect(await theirs("GET", "memory?action=stores")).toEqual({
      status: 200,
      body: {
        stores: [
          { storeId: plannerStore, level: "readwrite", source: "self" },
          { storeId: weather, level: "readwrite", source: "grant" },
        ],
      },
    });
    expect(await theirs("GET", "memory?action=search&q=tea")).toMatchObject({ body: { entries: [{ key: "tea" }] } });
    expect(await own("DELETE", `memory?action=share&grantee=${planner}`)).toMatchObject({ status: 200 });
    expect(await own("DELETE", `memory?action=share&grantee=${planner}`)).toMatchObject({ status: 404 });
    expect(await statuses()).toEqual([403, 403, 403, 403, 403, 403, 403]);
  });

  test("two creators of one key are both shown, and each deletes its own", async () => {
    await own("POST", "memory?action=share", { grantee: planner, level: "readwrite" });
    await own("PUT", "memory/both", { value: "mine" });
    await theirs("PUT", "memory/both", { value: "theirs", store: weather });
    expect(await own("GET", "memory/both")).toMatchObject({
      body: { value: "mine", owner: weather, others: [{ value: "theirs", owner: plannerStore }] },
    });
    expect(await own("DELETE", "memory/both")).toMatchObject({ status: 200 });
    expect(await own("DELETE", "memory/both")).toMatchObject({ status: 403 });
    expect(await own("GET", "memory/both")).toMatchObject({ body: { value: "theirs" } });
    await own("DELETE", `memory?action=share&grantee=${planner}`);
  });

  test.each([
    { grantee: "" },
    { grantee: "a/b" },
    { grantee: weather },
    { grantee: planner, level: "admin" },
    { grantee: planner, ttl: 5 },
    { level: "read" },
    {},
  ])("%o cannot be granted", async (body) => {
    expect(await own("POST", "memory?action=share", body)).toMatchObject({ status: 400 });
  });

  test("a level that is null is the default", async () => {
    expect(await own("POST", "memory?action=share", { grantee: "carol", level: null })).toMatchObject({ status: 200 });
    expect(await stage.runtime.stores({ userId: weather }).grants()).toMatchObject([{ level: "read" }]);
    await own("DELETE", "memory?action=share&grantee=carol");
  });

  test("without sharing by models, nobody shares, and it is on record", async () => {
    await using closed = await openStorageStage({}, { runtime: { memory: {} } });
    const client = closed.as(weather);
    const off = { status: 403, body: { error: "Sharing is turned off on this server" } };
    expect(await client("POST", "memory?action=share", { grantee: planner })).toEqual(off);
    expect(await client("DELETE", `memory?action=share&grantee=${planner}`)).toEqual(off);
    expect(closed.refusals.map(({ reason, userId }) => [reason, userId])).toEqual([
      ["storage-sharing-off", weather],
      ["storage-sharing-off", weather],
    ]);
  });
});

describe("what programs set out of sight of models", () => {
  const secret = { value: { key: "k-1" }, inContext: false, encrypted: true };
  const asProgram = { headers: { "content-type": [] } };

  test("is not returned unless the operator allows it", async () => {
    expect(await own("PUT", "memory/api", secret)).toMatchObject({ status: 200 });
    expect(await own("GET", "memory/api")).toMatchObject({ status: 404 });
    expect(await own("GET", "memory/api", undefined, asProgram)).toMatchObject({ status: 404 });
    expect(await own("GET", "memory/api?namespace=x", undefined, asProgram)).toMatchObject({ status: 404 });
    expect(JSON.stringify(await own("GET", "memory"))).not.toContain("api");
  });

  test("then, only to a request without a content type", async () => {
    await using open = await openStorageStage({ internalValues: true });
    const client = open.as(weather);
    await client("PUT", "memory/api", secret);
    await client("PUT", "memory/api", { ...secret, value: 2, namespace: "billing" });
    expect(await client("GET", "memory/api")).toMatchObject({ status: 404 });
    const got = await client("GET", "memory/api", undefined, asProgram);
    expect(got).toEqual({ status: 200, body: { key: "api", storeId: weather, value: { key: "k-1" } } });
    expect(await client("GET", "memory/api?namespace=billing", undefined, asProgram)).toMatchObject({
      body: { value: 2 },
    });
    expect(await client("GET", "memory/api?namespace=other", undefined, asProgram)).toMatchObject({ status: 404 });
    await client("PUT", "memory/shown", { value: 3 });
    expect(await client("GET", "memory/shown", undefined, asProgram)).toMatchObject({ body: { value: 3 } });
  });

  test("without the tool for them, programs get what models see, and no value under a namespace", async () => {
    const { GetInternal: _, ...tools } = policyFor([shippedPlugin("stores")]).plugins["stores"]?.tools ?? {};
    const policy = { version: 1 as const, plugins: { stores: { tools } } };
    await using open = await openStorageStage({ internalValues: true }, { runtime: { plugins: ["stores"], policy } });
    const client = open.as(weather);
    await client("PUT", "memory/shown", { value: 3 });
    expect(await client("GET", "memory/shown", undefined, asProgram)).toMatchObject({
      status: 200,
      body: { value: 3 },
    });
    expect((await client("GET", "memory/shown?namespace=billing", undefined, asProgram)).status).toBe(403);
  });

  test("flags of such values are refused for others", async () => {
    expect(await own("PUT", "memory/k", { value: 1, encrypted: true })).toMatchObject({ status: 400 });
    expect(await own("PUT", "memory/k", { value: 1, namespace: "x" })).toMatchObject({ status: 400 });
  });
});
