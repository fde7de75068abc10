/** Grants and hints that somebody has put on the disk, grants that end, and programs that vouch for callers. */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { ContextualAccess } from "memcell";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { ask, grantsText, ids, nowMs, openStoreStage, scope, secret } from "./store-stage.ts";
import type { StoreStage } from "./store-stage.ts";

const shared = `/memories/shared/${ids.alice}/a.md`;
const view = { command: "view", path: shared };
const denied = { ok: false, error: { code: "ACCESS_DENIED", message: "Access denied to this store" } };
const seen = { ok: true, message: expect.stringMatching(new RegExp(`${secret}$`)) };

const grantsFile = `${ids.alice}/.memcell/grants.json`;
const one = { grantee: ids.reader, level: "read", grantedMs: 1, expiresMs: null };

const forged: Readonly<Record<string, string>> = {
  "no JSON": "grants!",
  "an empty file": "",
  "JSON of another kind": "[]",
  "another version": JSON.stringify({ version: 2, grants: [one] }),
  "an unknown level": grantsText([{ ...one, level: "owner" }]),
  "a grantee in upper case": grantsText([{ ...one, grantee: "ABCDEF00-0000-4000-8000-000000000003" }]),
  "a grantee that is no id": grantsText([{ ...one, grantee: "*" }]),
  "a key that there is not": JSON.stringify({ version: 1, grants: [{ ...one, everybody: true }] }),
  "a grantee twice": grantsText([one, { ...one, level: "readwrite" }]),
  "a key twice": `{"version":1,"grants":[{"grantee":"${ids.reader}","level":"search","level":"readwrite","grantedMs":1,"expiresMs":null}]}`,
  "a byte order mark": `\ufeff${grantsText([one])}`,
  "an end that is no whole number": grantsText([{ ...one, expiresMs: 1.5 }]),
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

/** A guest that does something, and then goes on until the test lets it end: its own turn in a store is over. */
async function whileRunning(stage: StoreStage, change: () => Promise<unknown>): Promise<unknown> {
  const turns = 3_000_000;
  const steps = [ask("store_read", { scope: scope("alice"), path: "a.md" }), { turns }];
  const running = stage.play("reader", steps, "ReadingStorePuppet");
  await change();
  return await running;
}

test("a grant that is revoked while a reading call runs gives the call nothing", async () => {
  await using stage = await openStoreStage({ threadsMax: 2 });
  const result = await whileRunning(stage, () => stage.runtime.stores({ userId: ids.alice }).revoke(ids.reader));
  // Either the call ended before the revocation began, or it gets nothing.
  if (!JSON.stringify(result).includes(secret)) expect(result).toMatchObject({ ok: false });
  expect(await stage.memory("reader", view)).toMatchObject(denied);
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

const deniesAll: ContextualAccess = () => Promise.resolve(null);
const letsRead: ContextualAccess = () => ({ kind: "chat", level: "read" });

describe("a chat that the program vouches for", () => {
  const topic = { command: "create", path: `/memories/shared/${ids.chat}/topic`, content: "x" };

  test("is open as long as the program says so", async () => {
    let isMember = true;
    const contextualAccess: ContextualAccess = (id) => (id === ids.chat && isMember ? { kind: "chat" } : null);
    await using stage = await openStoreStage({ contextualAccess });
    expect(await stage.memory("stranger", topic)).toMatchObject({ ok: true });
    isMember = false;
    expect(await stage.memory("stranger", topic)).toMatchObject(denied);
  });

  test("that the caller leaves while its call runs gets and gives nothing", async () => {
    // Asked when the guest names the store, and before the result counts.
    for (const input of [topic, { command: "view", path: `/memories/shared/${ids.chat}/` }]) {
      const answers = [true, false];
      const contextualAccess: ContextualAccess = () => (answers.shift() === true ? { kind: "chat" } : null);
      await using stage = await openStoreStage({ contextualAccess });
      expect(await stage.memory("stranger", input)).toMatchObject(denied);
      const after = await stage.memory("stranger", { command: "stores" });
      expect(after).toMatchObject({ data: { stores: [{ storeId: ids.stranger }] } });
    }
  });

  test("is not open because a context names it, if the program denies it", async () => {
    await using stage = await openStoreStage({ contextualAccess: deniesAll });
    const stores = [{ id: ids.chat, kind: "chat" as const }];
    expect(await stage.memory("stranger", topic, { stores })).toMatchObject(denied);
  });

  test("has the lower level of the two", async () => {
    await using stage = await openStoreStage({ contextualAccess: letsRead });
    const stores = [{ id: ids.chat, kind: "chat" as const, level: "readwrite" as const }];
    expect(await stage.memory("stranger", topic, { stores })).toMatchObject(denied);
  });

  test("does not raise a grant", async () => {
    await using stage = await openStoreStage();
    const stores = [{ id: ids.alice, kind: "user" as const }];
    expect(await stage.memory("searcher", view, { stores })).toMatchObject(denied);
  });

  const wrong: Readonly<Record<string, () => unknown>> = {
    throws: () => {
      throw new Error("the database is down");
    },
    rejects: () => Promise.reject(new Error("the database is down")),
    "returns true": () => true,
    "returns nothing": () => undefined,
    "returns an unknown kind": () => ({ kind: "owner" }),
    "returns an unknown level": () => ({ kind: "chat", level: "all" }),
  };

  test.for(Object.entries(wrong))("whose program %s opens nothing", async ([, answer]) => {
    await using stage = await openStoreStage({ contextualAccess: answer as ContextualAccess });
    const result = await stage.memory("stranger", topic);
    expect(result).toMatchObject({ ok: false, error: { code: "INTERNAL", blame: "host" } });
    expect(JSON.stringify(result)).not.toContain("database");
    // The user's own store does not need it.
    expect(await stage.memory("stranger", { command: "create", path: "/memories/own", content: "x" })).toMatchObject({
      ok: true,
    });
  });
});

function hidden(): never {
  throw new Error("hidden");
}

describe("a context with invalid stores is refused before anything runs", () => {
  const { chat } = ids;
  const invalid: Readonly<Record<string, unknown>> = {
    "no array": {},
    null: null,
    "a text": chat,
    "an id in upper case": [{ id: "ABCDEF00-0000-4000-8000-000000000003", kind: "chat" }],
    "an id that is no UUID": [{ id: "chat-1", kind: "chat" }],
    "no id": [{ kind: "chat" }],
    "no kind": [{ id: chat }],
    "another kind": [{ id: chat, kind: "self" }],
    "another level": [{ id: chat, kind: "chat", level: "owner" }],
    "an id twice": ["chat", "user"].map((kind) => ({ id: chat, kind })),
    "a hole": [null],
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
