/** A guest that lies about what it may do: each request is denied and on record, and nothing of its call is kept. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { UseEntry } from "../stage/audit-log.ts";
import { ask, entryText, expectDenied, ids, openStoreStage, scope, secret } from "./store-stage.ts";
import type { Name, StoreStage } from "./store-stage.ts";

let stage: StoreStage;
beforeAll(async () => {
  stage = await openStoreStage();
});
afterAll(() => stage[Symbol.asyncDispose]());

const untouched = { "a.md": entryText("a.md", ids.alice, secret) };
const staged = ask("store_write", { scope: "store:self", path: "staged.md", content: "must not stay" });

const file = { scope: scope("alice"), path: "a.md" };
const write = { ...file, content: "mine now" };
const ofAlice = { scope: file.scope };
const unknown = { ...file, scope: scope("unknown") };
const grant = (more: object): object => ({ scope: "store:self", grantee: ids.stranger, level: "read", ...more });
const own = (path: string): object => ({ scope: "store:self", path });
const reading = "ReadingStorePuppet";

type Lie = readonly [what: string, user: Name, capability: string, request: object, tool?: string];

test.for<Lie>([
  ["reads a store that is not shared with it", "stranger", "store_read", file],
  ["lists one", "stranger", "store_list", ofAlice],
  ["writes to one", "stranger", "store_write", write],
  ["grants itself access to one", "stranger", "grant_set", grant({ ...ofAlice, level: "readwrite" })],
  ["reads a store that does not exist", "stranger", "store_read", unknown],
  ["writes to a store that does not exist", "stranger", "store_write", { ...unknown, content: "mine now" }],
  ["reads with the level search, without the right", "searcher", "store_read", file, reading],
  ["lists with the level search, without the right", "searcher", "store_list", ofAlice, reading],
  ["reads with the level search and every right but that one", "searcher", "store_read", file],
  ["writes with the level search", "searcher", "store_write", write],
  ["writes with the level read", "reader", "store_write", write],
  ["trashes with the level read", "reader", "store_trash", file],
  ["writes in an export without the right", "writer", "store_write", write, reading],
  ["writes in the export for searching", "writer", "store_write", write, "SearchingStorePuppet"],
  ["asks for grants without the right", "writer", "grant_list", {}, "BlindStorePuppet"],
  ["sets grants without the right", "alice", "grant_set", grant({}), reading],
  ["shares another's store with readwrite", "writer", "grant_set", grant(ofAlice)],
  ["revokes another's grant with readwrite", "writer", "grant_set", { ...ofAlice, grantee: ids.reader, level: null }],
  ["grants access to itself", "alice", "grant_set", grant({ grantee: ids.alice })],
  ["grants a level that there is not", "alice", "grant_set", grant({ level: "admin" })],
  ["grants until no number", "alice", "grant_set", grant({ expiresMs: 1.5 })],
  ["grants with a key of its own", "alice", "grant_set", grant({ owner: true })],
  ["names the host's own folder", "alice", "store_read", own(".memcell/grants.json")],
  ["climbs to the host's own folder", "alice", "store_write", { ...own("../.memcell/grants.json"), content: "{}" }],
  ["climbs to another store", "alice", "store_read", own(`../../${ids.writer}/entries/a.md`)],
])("a guest that %s", async ([, user, capability, request, tool]) => {
  const step = ask(capability, request);
  const before = stage.records().length;
  const steps = tool === undefined || tool === "BlindStorePuppet" ? [staged, step] : [step];
  expectDenied(await stage.play(user, steps, tool));
  expect(stage.entries("alice")).toEqual(untouched);
  const records = stage.records().slice(before);
  const uses = records.filter(({ kind }) => kind === "use") as readonly UseEntry[];
  expect(uses.map(({ code }) => code)).toEqual(["CAPABILITY_DENIED"]);
  const changes = steps.length === 2 ? "dropped" : "none";
  expect(records.at(-1)).toMatchObject({ kind: "call", code: "CAPABILITY_DENIED", usesDenied: 1, changes });
});

describe("a scope that names no store", () => {
  const { alice } = ids;
  const upper = `store:${alice.toUpperCase().replace("1", "A")}`;
  const names = ["memory", "grants", "__proto__", "", "store:../self", "STORE:self", " store:self"];
  const ofId = [alice, `store:${alice} `, upper, `store:${alice.replaceAll("-", "")}`, `store:${alice}\u0000`];
  const odd = [...names, ...ofId, "store:00000000-0000-0000-0000-000000000000"];
  test.for(odd)("%j", async (name) => {
    const request = { scope: name, path: "a.md" };
    expectDenied(await stage.play("writer", [ask("store_read", request)]));
    expectDenied(await stage.play("alice", [staged, ask("store_write", { ...request, content: "x" })]));
    expectDenied(await stage.play("alice", [ask("grant_list", { scope: name })]));
    expect(stage.entries("alice")).toEqual(untouched);
  });
});

test("a guest that ignores a denial and answers with success gets the denial all the same", async () => {
  const steps = [
    staged,
    ask("store_read", file),
    { output: JSON.stringify({ ok: true, message: "stolen", data: {} }) },
  ];
  expectDenied(await stage.play("stranger", steps));
  expect(stage.entries("alice")).toEqual(untouched);
});

const askedAbout = (count: number): unknown[] =>
  Array.from({ length: count }, (_, at) =>
    ask("grant_list", { scope: `store:${String(at).padStart(8, "0")}-0000-4000-8000-0000000000ff` }),
  );

test("a guest can ask about 256 stores with its user's own, and no more", async () => {
  expect(await stage.play("alice", askedAbout(255))).toMatchObject({ ok: true });
  expectDenied(await stage.play("alice", askedAbout(256)));
});

test("a call that changes more than 32 stores changes none, and is on record", async () => {
  const chats = Array.from({ length: 33 }, (_, at) => ({
    id: `bbbbbbbb-0000-4000-8000-${String(at).padStart(12, "0")}`,
    kind: "chat" as const,
  }));
  const steps = chats.map(({ id }) => ask("store_write", { scope: `store:${id}`, path: "x.md", content: "one" }));
  const error = {
    code: "QUOTA_EXCEEDED",
    message: expect.stringContaining("it changes 33 stores, at most 32 allowed"),
  };
  expect(await stage.play("writer", steps, "StorePuppet", { stores: chats })).toMatchObject({ error });
  expect(stage.records().at(-1)).toMatchObject({ kind: "call", code: "QUOTA_EXCEEDED", changes: "dropped" });
  const fewer = await stage.play("writer", steps.slice(1), "StorePuppet", { stores: chats });
  expect(fewer).toMatchObject({ ok: true });
  expect(stage.records().at(-1)).toMatchObject({ kind: "call", changes: "committed" });
});
