/** `/api/storage/memory-scoped`: every action, the merge of changes between machines, and what is refused. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { storeIdOf } from "memcell";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { openHttpStage } from "../../stage/http.ts";
import type { HttpStage, StorageClient } from "../../stage/http.ts";
import { sharing, weather } from "./agents.ts";

let stage: HttpStage;
let own: StorageClient;

beforeAll(async () => {
  stage = await openHttpStage(sharing());
  own = stage.as(weather);
});
afterAll(async () => await stage[Symbol.asyncDispose]());

interface Page {
  readonly lines: readonly { readonly op: string; readonly key: string; readonly content?: string }[];
  readonly cursor: string | null;
  readonly more: boolean;
}

async function pull(client: StorageClient, namespace: string, since: string | null): Promise<Page> {
  const from = since === null ? "" : `&since=${encodeURIComponent(since)}`;
  const { status, body } = await client("GET", `memory-scoped?action=sync&namespace=${namespace}${from}`);
  expect(status).toBe(200);
  return body as Page;
}

/** Page by page, as the clients do. */
async function pullAll(client: StorageClient, namespace: string, since: string | null) {
  const lines: Page["lines"][number][] = [];
  let page = await pull(client, namespace, since);
  let pages = 1;
  for (; page.more; pages++) {
    lines.push(...page.lines);
    page = await pull(client, namespace, page.cursor);
  }
  return { lines: [...lines, ...page.lines], cursor: page.cursor, pages };
}

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
  for (const query of ["list&limit=100000", "search&q=teas&limit=10"]) {
    const found = await own("GET", `memory-scoped?action=${query}&${at}`);
    expect(found).toEqual({ status: 200, body: { entries: [entry] } });
  }
  expect(await own("DELETE", `memory-scoped?key=prefs&${at}`)).toEqual({ status: 200, body: { forgotten: 1 } });
  expect(await own("DELETE", `memory-scoped?key=prefs&${at}`)).toEqual({ status: 200, body: { forgotten: 0 } });
  expect(await own("GET", `memory-scoped?action=get&key=prefs&${at}`)).toEqual({ status: 200, body: { entry: null } });
});

const long = `caller:${"x".repeat(300)}`;

test("namespaces keep notes apart, and what is forgotten, also those whose names are too long for a path", async () => {
  const client = stage.as(stage.user("agent"));
  const names = [
    ["owner", "shared", "caller:user:a", "caller:user:A", "caller:owner", long, `${long.slice(0, -1)}y`],
    ["caller:https://x.example//a", "caller:https://x.example/"],
  ].flat();
  const gone = "k".repeat(128);
  for (const namespace of names) {
    await client("PUT", "memory-scoped", { namespace, key: "k", content: namespace });
    await push(client, [{ key: gone, at: hour(1) }], namespace);
    expect(await push(client, [{ op: "delete", key: gone, at: hour(2) }], namespace)).toMatchObject({ applied: 1 });
  }
  for (const namespace of names) {
    const at = encodeURIComponent(namespace);
    const asked = await client("GET", `memory-scoped?action=get&key=k&namespace=${at}`);
    expect(asked).toMatchObject({ body: { entry: { content: namespace } } });
    const listed = await client("GET", `memory-scoped?action=list&namespace=${at}`);
    expect(listed).toMatchObject({ body: { entries: [{ namespace }] } });
    const { lines } = await pull(client, at, null);
    expect(lines.map(({ op, key }) => `${op} ${key}`).toSorted()).toEqual([`delete ${gone}`, "put k"]);
  }
  for (const [query, length] of [
    ["&namespace=owner&namespace=shared", 2],
    ["", names.length],
    ["&prefix=k&limit=1", 1],
    ["&excludeSource=owner&excludeSource=tool", 0],
  ]) {
    expect(await client("GET", `memory-scoped?action=list${query}`)).toMatchObject({ body: { entries: { length } } });
  }
});

describe("the exchange of changes", () => {
  test("each line counts on its own: what cannot be kept holds back no other", async () => {
    const client = stage.as(stage.user("agent"));
    const lines = [
      { key: "large", content: "x".repeat(102_401), at: hour(1) },
      { key: "larger", content: "x".repeat(450_000), at: hour(1) },
      { key: "k", at: "2026-02-30T00:00:00.000Z" },
      { key: "k", namespace: "shared", at: hour(1) },
      { key: "k", content: 5, at: hour(1) },
      { key: "fits", at: hour(1), seq: 1, id: "x" },
    ];
    const pushed = (await push(client, lines)) as { applied: number; refused: { at: number }[] };
    expect([pushed.applied, pushed.refused.map(({ at }) => at)]).toEqual([1, [0, 1, 2, 3, 4]]);
    const none = { namespace: "owner", lines: [null, "x"] };
    expect(await client("POST", "memory-scoped?action=sync", none)).toMatchObject({
      status: 200,
      body: { applied: 0, refused: [{ at: 0 }, { at: 1 }] },
    });
  });

  test("marks of forgotten notes do not fill a store: the oldest go", async () => {
    const client = stage.as(stage.user("agent"));
    const keys = Array.from({ length: 210 }, (_, at) => `k${String(at).padStart(3, "0")}`);
    for (const { op, at } of [
      { op: "put", at: hour(1) },
      { op: "delete", at: hour(2) },
    ]) {
      // Not all at once: on a busy machine the call would end late.
      for (let from = 0; from < 210; from += 30) {
        const lines = keys.slice(from, from + 30).map((key) => ({ op, key, at }));
        expect(await push(client, lines)).toEqual({ applied: 30, refused: [] });
      }
    }
    const { lines } = await pullAll(client, "owner", null);
    expect([lines.length, lines.every(({ op }) => op === "delete")]).toEqual([200, true]);
    expect(await push(client, [{ key: lines[0]?.key, at: hour(2) }])).toMatchObject({ applied: 0 });
  });

  test("a note of control characters alone is too large where no answer could hold it", async () => {
    const client = stage.as(stage.user("agent"));
    const put = (content: string) => client("PUT", "memory-scoped", { namespace: "owner", key: "odd", content });
    expect(await put("\u0001".repeat(70_000))).toMatchObject({ status: 200 });
    expect(await put("\u0001".repeat(80_000))).toMatchObject({ status: 413 });
  });

  test("pages go on where the one before ended, and a change comes after the cursor that was given before it", async () => {
    const client = stage.as(stage.user("agent"));
    const content = "x".repeat(90_000);
    const keys = Array.from({ length: 12 }, (_, at) => `k${String(at).padStart(2, "0")}`);
    for (const key of keys) await client("PUT", "memory-scoped", { namespace: "shared", key, content });
    // A cursor that is none begins at the start.
    for (const since of ["x", "-1:", "1795453231542000"]) {
      expect((await pull(client, "shared", since)).lines).toEqual((await pull(client, "shared", null)).lines);
    }
    const first = await pullAll(client, "shared", null);
    expect([first.lines.map(({ key }) => key).toSorted(), first.pages > 1]).toEqual([keys, true]);
    await client("DELETE", "memory-scoped?namespace=shared&key=k03");
    await client("PUT", "memory-scoped", { namespace: "shared", key: "late", content: "" });
    const { lines } = await pullAll(client, "shared", first.cursor);
    expect(lines.filter(({ key }) => key === "k03" || key === "late").map(({ op, key }) => [op, key])).toEqual([
      ["delete", "k03"],
      ["put", "late"],
    ]);
  });

  test("a note that a person writes or edits is pulled as well", async () => {
    const agent = stage.user("agent");
    const client = stage.as(agent);
    await client("PUT", "memory-scoped", { namespace: "owner", key: "plan", content: "October" });
    const folder = join(stage.dataDir, "stores", storeIdOf(agent), "entries", "_.ns", "owner");
    writeFileSync(join(folder, "by-hand_.md"), "Written by a person.\n");
    const { lines } = await pull(client, "owner", null);
    expect(lines.find(({ key }) => key === "by-hand")).toMatchObject({
      op: "put",
      content: "Written by a person.\n",
      source: "owner",
    });
    expect(await client("GET", "memory-scoped?action=search&q=persons")).toMatchObject({
      body: { entries: [{ key: "by-hand" }] },
    });
  });
});

test("a list names all notes, also where their contents together are too large for an answer", async () => {
  const client = stage.as(stage.user("agent"));
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

const noteOf = { namespace: "owner", key: "k", content: "" };
const noNamespaces = [
  ["owner,shared", "caller:x,owner", "caller:", "caller:a b", "caller:a\u0000b", "caller:a\u2028b", `${long}x`],
  ["Owner", "", "memory", "forgotten:owner"],
].flat();
const noKeys = ["", "a/b", ".a", "..", "ü", "a b", "k".repeat(129), "a\nb"];

test.for<readonly [method: string, path: string, body?: unknown]>([
  ...[
    ["", "action=stores", "action=get&key=k", "action=get&key=k&namespace=owner&namespace=shared", "action=search"],
    ["action=get&key=k&key=l&namespace=owner", "action=list&namespaces=owner,shared", "action=list&store=owner"],
    [`action=search&q=${"x".repeat(1_001)}`, "action=list&principal=user:alice"],
    ["0", "-1", "1.5", "ten", "1e3"].map((limit) => `action=list&limit=${limit}`),
    noNamespaces.map((name) => `action=list&namespace=owner&namespace=${encodeURIComponent(name)}`),
    `action=sync&namespace=${encodeURIComponent("caller:x,owner")}`,
  ]
    .flat()
    .map((query) => ["GET", `memory-scoped?${query}`] as const),
  ["DELETE", "memory-scoped?namespace=owner"],
  ["PUT", "memory-scoped", { namespace: "owner", key: "k" }],
  ...[
    { content: 5 },
    { at: "now" },
    { caller: "user:alice" },
    ...noNamespaces.map((namespace) => ({ namespace })),
    ...noKeys.map((key) => ({ key })),
  ].map((wrong) => ["PUT", "memory-scoped", { ...noteOf, ...wrong }] as const),
  ["PUT", "memory-scoped?namespace=shared", noteOf],
  ["POST", "memory-scoped", { namespace: "owner", lines: [] }],
  ["POST", "memory-scoped?action=share", { namespace: "owner", lines: [] }],
  ["POST", "memory-scoped?action=sync", { namespace: "owner" }],
  ["POST", "memory-scoped?action=sync", []],
])("%s %s %o is refused", async ([method, path, body]) => {
  expect(await own(method, path, body)).toMatchObject({ status: 400, body: { error: expect.any(String) as unknown } });
});
