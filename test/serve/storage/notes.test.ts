/** `/api/storage/memory-scoped`: every action, the merge of changes, and what is refused. */

import { storeIdOf } from "memcell";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { pull } from "./pulled-notes.ts";
import { openStorageStage, planner, weather } from "./stage.ts";
import type { StorageClient, StorageStage } from "./stage.ts";

let stage: StorageStage;
let own: StorageClient;

beforeAll(async () => {
  stage = await openStorageStage();
  own = stage.as(weather);
});
afterAll(async () => await stage[Symbol.asyncDispose]());

async function push(client: StorageClient, lines: readonly object[], namespace = "owner"): Promise<unknown> {
  const all = lines.map((line) => ({ op: "put", namespace, content: "", ...line }));
  return (await client("POST", "memory-scoped?action=sync", { namespace, lines: all })).body;
}

const hour = (of: number): string => `2026-01-01T${String(of).padStart(2, "0")}:00:00.000Z`;

test("a note is put, got, listed, found and forgotten, under the id that its clients compute", async () => {
  const put = await own("PUT", `memory-scoped?agentId=${weather}`, {
    agentId: weather,
    namespace: "caller:user:alice",
    key: "prefs",
    content: "Likes tea",
    source: "tool",
    at: null,
    description: " what\nalice likes ",
  });
  const entry = {
    // uuid5(NAMESPACE_URL, "7f3c2a10-…\ncaller:user:alice\nprefs"), by Python's uuid
    id: "a9aae6a4-4dd4-592e-b576-2305e5216d09",
    namespace: "caller:user:alice",
    key: "prefs",
    content: "Likes tea",
    description: "what alice likes",
    source: "tool",
    created_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/) as unknown,
    updated_at: expect.stringMatching(/Z$/) as unknown,
  };
  expect(put).toEqual({ status: 200, body: { entry } });
  const at = "namespace=caller%3Auser%3Aalice";
  expect(await own("GET", `memory-scoped?action=get&key=prefs&${at}`)).toEqual(put);
  expect(await own("GET", `memory-scoped?action=list&limit=100000&${at}`)).toEqual({
    status: 200,
    body: { entries: [entry] },
  });
  expect(await own("GET", `memory-scoped?action=search&q=teas&limit=10&${at}`)).toEqual({
    status: 200,
    body: { entries: [entry] },
  });
  expect(await own("DELETE", `memory-scoped?key=prefs&${at}`)).toEqual({ status: 200, body: { forgotten: 1 } });
  expect(await own("DELETE", `memory-scoped?key=prefs&${at}`)).toEqual({ status: 200, body: { forgotten: 0 } });
  expect(await own("GET", `memory-scoped?action=get&key=prefs&${at}`)).toEqual({ status: 200, body: { entry: null } });
});

describe("namespaces", () => {
  const long = `caller:${"x".repeat(300)}`;

  test("keep notes apart, also those whose names are too long for a path", async () => {
    const { client } = stage.another();
    const names = ["owner", "shared", "caller:user:a", "caller:user:A", "caller:owner", long, `${long.slice(0, -1)}y`];
    for (const namespace of names) await client("PUT", "memory-scoped", { namespace, key: "k", content: namespace });
    for (const namespace of names) {
      const at = encodeURIComponent(namespace);
      expect(await client("GET", `memory-scoped?action=get&key=k&namespace=${at}`)).toMatchObject({
        body: { entry: { content: namespace } },
      });
      expect(await client("GET", `memory-scoped?action=list&namespace=${at}`)).toMatchObject({
        body: { entries: [{ namespace }] },
      });
      expect((await pull(client, at, null)).lines).toMatchObject([{ content: namespace }]);
    }
    expect(await client("GET", "memory-scoped?action=list&namespace=owner&namespace=shared")).toMatchObject({
      body: { entries: { length: 2 } },
    });
    expect(await client("GET", "memory-scoped?action=list")).toMatchObject({
      body: { entries: { length: names.length } },
    });
  });

  test("are not those of the tool memory, of another agent, or of whom the store is shared with", async () => {
    const { agent, client } = stage.another();
    await client("PUT", "memory-scoped", { namespace: "owner", key: "plan", content: "kumquat" });
    await client("PUT", "memory/other", { value: "visible" });
    await client("POST", "memory?action=share", { grantee: planner, level: "readwrite" });
    const theirs = stage.as(planner);
    const store = storeIdOf(agent);
    for (const answer of [
      await client("GET", "memory"),
      await client("GET", "memory/plan"),
      await client("GET", "memory?action=search&q=kumquat"),
      await theirs("GET", `memory?store=${store}`),
      await theirs("GET", `memory?action=search&q=kumquat&store=${store}`),
      await theirs("GET", "memory-scoped?action=list"),
      await theirs("GET", "memory-scoped?action=search&q=kumquat"),
    ]) {
      expect(JSON.stringify(answer)).not.toMatch(/plan|kumquat/);
    }
  });

  test.each([
    "owner,shared",
    "caller:x,owner",
    "caller:",
    "caller:a b",
    "caller:a\u0000b",
    "caller:a\u2028b",
    `${long}x`,
    "Owner",
    "",
    "memory",
    "forgotten:owner",
  ])("%o is none", async (namespace) => {
    const at = encodeURIComponent(namespace);
    expect(await own("PUT", "memory-scoped", { namespace, key: "k", content: "" })).toMatchObject({ status: 400 });
    expect(await own("GET", `memory-scoped?action=list&namespace=owner&namespace=${at}`)).toMatchObject({
      status: 400,
    });
    expect(await own("GET", `memory-scoped?action=sync&namespace=${at}`)).toMatchObject({ status: 400 });
  });

  test.each(["", "a/b", ".a", "..", "ü", "a b", "k".repeat(129), "a\nb"])("%o is no key", async (key) => {
    expect(await own("PUT", "memory-scoped", { namespace: "owner", key, content: "" })).toMatchObject({ status: 400 });
  });
});

describe("a list", () => {
  test("has the last changed first, from a prefix on, without some sources", async () => {
    const { client } = stage.another();
    await push(client, [
      { key: "old", at: hour(1), source: "compaction" },
      { key: "new", at: hour(3) },
      { key: "newer", at: hour(4), source: "owner" },
    ]);
    const keys = async (query: string): Promise<unknown> => {
      const { body } = await client("GET", `memory-scoped?action=list${query}`);
      return (body as { entries: { key: string }[] }).entries.map(({ key }) => key);
    };
    expect(await keys("")).toEqual(["newer", "new", "old"]);
    expect(await keys("&limit=1")).toEqual(["newer"]);
    expect(await keys("&prefix=new")).toEqual(["newer", "new"]);
    expect(await keys("&excludeSource=compaction&excludeSource=owner")).toEqual(["new"]);
    for (const limit of ["0", "-1", "1.5", "ten", "1e3"]) {
      expect(await client("GET", `memory-scoped?action=list&limit=${limit}`)).toMatchObject({ status: 400 });
    }
  });

  test("names all notes, also where their contents together are too large for an answer", async () => {
    const { client } = stage.another();
    const lines = Array.from({ length: 40 }, (_, at) => ({
      key: `k${at}`,
      at: hour(1),
      content: `first line\n${"x".repeat(20_000)}`,
    }));
    expect(await push(client, lines)).toEqual({ applied: 40, refused: [] });
    const { body } = await client("GET", "memory-scoped?action=list&limit=1000");
    const contents = (body as { entries: { content: string }[] }).entries.map(({ content }) => content.length);
    expect(contents).toHaveLength(40);
    expect(new Set(contents)).toEqual(new Set([20_011, 201]));
    expect(JSON.stringify(body).length).toBeLessThan(524_288);
  });
});

test.each([
  ["GET", "memory-scoped", undefined],
  ["GET", "memory-scoped?action=stores", undefined],
  ["GET", "memory-scoped?action=get&key=k", undefined],
  ["GET", "memory-scoped?action=get&key=k&namespace=owner&namespace=shared", undefined],
  ["GET", "memory-scoped?action=get&key=k&key=l&namespace=owner", undefined],
  ["GET", "memory-scoped?action=list&namespaces=owner,shared", undefined],
  ["GET", "memory-scoped?action=search", undefined],
  ["GET", `memory-scoped?action=search&q=${"x".repeat(1_001)}`, undefined],
  ["GET", "memory-scoped?action=list&store=owner", undefined],
  ["GET", "memory-scoped?action=list&principal=user:alice", undefined],
  ["DELETE", "memory-scoped?namespace=owner", undefined],
  ["PUT", "memory-scoped", { namespace: "owner", key: "k" }],
  ["PUT", "memory-scoped", { namespace: "owner", key: "k", content: 5 }],
  ["PUT", "memory-scoped", { namespace: "owner", key: "k", content: "", at: "now" }],
  ["PUT", "memory-scoped", { namespace: "owner", key: "k", content: "", caller: "user:alice" }],
  ["PUT", "memory-scoped?namespace=shared", { namespace: "owner", key: "k", content: "" }],
  ["POST", "memory-scoped", { namespace: "owner", lines: [] }],
  ["POST", "memory-scoped?action=share", { namespace: "owner", lines: [] }],
  ["POST", "memory-scoped?action=sync", { namespace: "owner" }],
  ["POST", "memory-scoped?action=sync", []],
] as const)("%s %s %o is refused", async (method, path, body) => {
  expect(await own(method, path, body)).toMatchObject({ status: 400, body: { error: expect.any(String) as unknown } });
});
