/** Grants and hints that somebody has put on the disk, grants that end, and programs that vouch for callers. */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { ContextualAccess } from "memcell";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { grantsText, ids, nowMs, openStoreStage, secret } from "./store-stage.ts";
import type { StoreStage } from "./store-stage.ts";

const shared = `/memories/shared/${ids.alice}/a.md`;
const view = { command: "view", path: shared };
const denied = { ok: false, error: { code: "ACCESS_DENIED", message: "Access denied to this store" } };
const seen = { ok: true, message: expect.stringMatching(new RegExp(`${secret}$`)) };

const grantsFile = `${ids.alice}/.memcell/grants.json`;
const one = { grantee: ids.reader, level: "read", grantedMs: 1, expiresMs: null };

const forged: Readonly<Record<string, string>> = {
  "no JSON": "grants!",
  "another version": JSON.stringify({ version: 2, grants: [one] }),
  "an unknown level": grantsText([{ ...one, level: "owner" }]),
  "a grantee that is no id": grantsText([{ ...one, grantee: "*" }]),
  "a key that there is not": JSON.stringify({ version: 1, grants: [{ ...one, everybody: true }] }),
  "a grantee twice": grantsText([one, { ...one, level: "readwrite" }]),
  "a key twice": `{"version":1,"grants":[{"grantee":"${ids.reader}","level":"search","level":"readwrite","grantedMs":1,"expiresMs":null}]}`,
  "a byte order mark": `\ufeff${grantsText([one])}`,
  "more grants than a store can have": grantsText(
    Array.from({ length: 101 }, (_, at) => ({
      ...one,
      grantee: `${String(at).padStart(8, "0")}-0000-4000-8000-000000000001`,
    })),
  ),
};

const elsewhere = (stage: StoreStage): string => join(stage.dataDir, "elsewhere.json");

const forgeries: readonly (readonly [name: string, forge: (place: string, stage: StoreStage) => void])[] = [
  ...Object.entries(forged).map(([name, text]) => [name, (place: string) => writeFileSync(place, text)] as const),
  [
    "a link",
    (place, stage) => (writeFileSync(elsewhere(stage), grantsText([one])), symlinkSync(elsewhere(stage), place)),
  ],
  ["a folder", (place) => mkdirSync(place)],
];

describe("a file of grants that no host has written opens the store to nobody, and its owner still has it", () => {
  let stage: StoreStage;
  beforeAll(async () => {
    stage = await openStoreStage();
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  test.for(forgeries)("%s", async ([, forge]) => {
    const place = join(stage.dataDir, "stores", grantsFile);
    rmSync(place, { recursive: true, force: true });
    forge(place, stage);
    expect(await stage.memory("reader", view)).toMatchObject(denied);
    expect(await stage.memory("alice", { command: "view", path: "/memories/a.md" })).toMatchObject(seen);
    const share = await stage.memory("alice", { command: "share", agent: ids.stranger });
    expect(share).toMatchObject({ ok: false, error: { code: "STORAGE_UNSAFE" } });
    expect(await stage.runtime.stores({ userId: ids.reader }).list()).toHaveLength(1);
  });
});

test("a hint without a grant opens nothing", async () => {
  await using stage = await openStoreStage();
  stage.write(`.granted/${ids.stranger}/${ids.alice}.1.never`, "");
  expect(await stage.memory("stranger", view)).toMatchObject(denied);
  expect(await stage.memory("stranger", { command: "stores" })).toMatchObject({
    data: { stores: [{ storeId: ids.stranger }] },
  });
});

test("a grant lives until the millisecond that it names", async () => {
  let now = nowMs;
  await using stage = await openStoreStage({
    grants: [{ grantee: ids.reader, level: "read", expiresMs: nowMs + 1 }],
    clock: () => now,
  });
  expect(await stage.memory("reader", view)).toMatchObject(seen);
  now += 1;
  expect(await stage.memory("reader", view)).toMatchObject(denied);
  expect(await stage.memory("reader", { command: "search", query: "secret" })).toMatchObject({ data: { results: [] } });
});

/** Views with a grant that ends after some readings of the clock. */
async function viewUntil(readings: number): Promise<unknown> {
  let now = nowMs;
  const grants = [{ grantee: ids.reader, level: "read", expiresMs: nowMs + readings }];
  await using stage = await openStoreStage({ grants, clock: () => now++ });
  return await stage.memory("reader", view);
}

test("a grant that ends while a call runs gives the call nothing", async () => {
  // The host reads the clock when it looks for grants, when it decides, when the guest starts, and when it decides again.
  expect(await viewUntil(4)).toMatchObject({ ok: true });
  expect(await viewUntil(3)).toMatchObject(denied);
});

test("a revocation counts, although the grantee's hint cannot be removed", async () => {
  await using stage = await openStoreStage();
  const hints = join(stage.dataDir, "stores/.granted", ids.reader);
  rmSync(hints, { recursive: true });
  symlinkSync(stage.dataDir, hints);
  expect(await stage.runtime.stores({ userId: ids.alice }).revoke(ids.reader)).toBe(true);
  rmSync(hints);
  expect(await stage.memory("reader", view)).toMatchObject(denied);
});

test("a revocation waits for a writing call that has begun, and the next call is denied", async () => {
  await using stage = await openStoreStage({ threadsMax: 2 });
  const writing = stage.memory("writer", { command: "create", path: `/memories/shared/${ids.alice}/w`, content: "x" });
  const revoked = stage.runtime.stores({ userId: ids.alice }).revoke(ids.writer);
  const [written] = await Promise.all([writing, revoked]);
  if (!written.ok) expect(written).toMatchObject(denied);
  const again = await stage.memory("writer", {
    command: "create",
    path: `/memories/shared/${ids.alice}/w2`,
    content: "x",
  });
  expect(again).toMatchObject(denied);
});

describe("a chat that the program vouches for", () => {
  const topic = { command: "create", path: `/memories/shared/${ids.chat}/topic`, content: "x" };
  const stores = [{ id: ids.chat, kind: "chat" as const }];
  let answer: () => unknown;
  let stage: StoreStage;
  beforeAll(async () => {
    const contextualAccess = ((id: string) => (id === ids.chat ? answer() : null)) as ContextualAccess;
    stage = await openStoreStage({ contextualAccess });
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  test("is open as long as the program says so, whatever the context names, at the lower level of the two", async () => {
    answer = () => ({ kind: "chat" });
    expect(await stage.memory("stranger", topic)).toMatchObject({ ok: true });
    answer = () => Promise.resolve(null);
    expect(await stage.memory("stranger", topic)).toMatchObject(denied);
    expect(await stage.memory("stranger", topic, { stores })).toMatchObject(denied);
    answer = () => ({ kind: "chat", level: "read" });
    const named = { id: ids.chat, kind: "chat", level: "readwrite" } as const;
    expect(await stage.memory("stranger", topic, { stores: [named] })).toMatchObject(denied);
  });

  test("that the caller leaves while its call runs gets and gives nothing", async () => {
    // Asked when the guest names the store, and before the result counts.
    for (const input of [
      { ...topic, path: `${topic.path}-2` },
      { command: "view", path: `/memories/shared/${ids.chat}/` },
    ]) {
      const answers = [true, false];
      answer = () => (answers.shift() === true ? { kind: "chat" } : null);
      expect(await stage.memory("stranger", input)).toMatchObject(denied);
      const after = await stage.memory("stranger", { command: "stores" });
      expect(after).toMatchObject({ data: { stores: [{ storeId: ids.stranger }] } });
    }
    expect(Object.keys(stage.entries("chat"))).not.toContain("topic-2");
  });

  const wrong: Readonly<Record<string, () => unknown>> = {
    rejects: () => Promise.reject(new Error("the database is down")),
    "returns nothing": () => undefined,
    "returns an unknown kind": () => ({ kind: "owner" }),
    "returns an unknown level": () => ({ kind: "chat", level: "all" }),
  };

  test.for(Object.entries(wrong))("whose program %s opens nothing", async ([, of]) => {
    answer = of;
    const result = await stage.memory("stranger", topic);
    expect(result).toMatchObject({ ok: false, error: { code: "INTERNAL", blame: "host" } });
    expect(JSON.stringify(result)).not.toContain("database");
    // The user's own store does not need it.
    expect(await stage.memory("stranger", { command: "view", path: "/memories/" })).toMatchObject({ ok: true });
  });
});

test("a store that a context names does not raise a grant", async () => {
  await using stage = await openStoreStage();
  const stores = [{ id: ids.alice, kind: "user" as const }];
  expect(await stage.memory("searcher", view, { stores })).toMatchObject(denied);
});

function hidden(): never {
  throw new Error("hidden");
}

describe("a context with invalid stores is refused before anything runs", () => {
  const { chat } = ids;
  const invalid: Readonly<Record<string, unknown>> = {
    "no array": {},
    "an id that is no UUID": [{ id: "chat-1", kind: "chat" }],
    "another kind": [{ id: chat, kind: "self" }],
    "another level": [{ id: chat, kind: "chat", level: "owner" }],
    "an id twice": ["chat", "user"].map((kind) => ({ id: chat, kind })),
    "too many": Array.from({ length: 65 }, (_, at) => ({
      id: `${String(at).padStart(8, "0")}-0000-4000-8000-000000000001`,
      kind: "chat",
    })),
    "a getter that throws": [Object.defineProperty({ kind: "chat" }, "id", { enumerable: true, get: hidden })],
  };
  test("each with the field that is wrong", async () => {
    await using stage = await openStoreStage();
    for (const [name, stores] of Object.entries(invalid)) {
      const result = await stage.memory("alice", { command: "view", path: "/memories/" }, { stores } as never);
      const error = { code: "INPUT_INVALID", issues: [{ field: "ctx.stores" }] };
      expect({ name, result }).toMatchObject({ name, result: { ok: false, error } });
    }
  });
});

/** Ids below all others. */
const strangers = Array.from({ length: 260 }, (_, at) => `00000000-0000-4000-8000-${String(at + 1).padStart(12, "0")}`);

test("the oldest grants stay, whatever the ids, and grants that have ended take no place", async () => {
  let now = nowMs;
  await using stage = await openStoreStage({ clock: () => now });
  const listed = async (): Promise<readonly string[]> =>
    (await stage.runtime.stores({ userId: ids.reader }).list()).map(({ id }) => id);
  for (const id of strangers) stage.write(`.granted/${ids.reader}/${id}.${nowMs}.${nowMs + 5}`, "");
  expect(await listed()).toEqual([ids.reader, ids.alice]);

  // Ended hints of the same strangers come first, if only their age counts.
  for (const id of strangers) stage.write(`.granted/${ids.writer}/${id}.0.${nowMs}`, "");
  await stage.runtime.stores({ userId: ids.chat }).grant(ids.writer, { level: "search" });
  now += 10;
  const searched = await stage.memory("writer", { command: "search", query: "secret" });
  expect(searched).toMatchObject({ data: { results: [{}] } });
  expect(await stage.memory("writer", { command: "stores" })).toMatchObject({ data: { stores: [{}, {}, {}] } });
});

test("a grant that has ended goes when its store's grants change, with its hint", async () => {
  let now = nowMs;
  await using stage = await openStoreStage({ clock: () => now });
  const mallory = stage.runtime.stores({ userId: "mallory" });
  await mallory.grant(ids.stranger, { expiresAt: new Date(nowMs + 1) });
  expect(stage.hints("stranger")).toHaveLength(1);
  now += 1;
  await mallory.grant("another");
  expect(stage.hints("stranger")).toEqual([]);
});
