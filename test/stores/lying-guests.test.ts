/** A guest that lies about what it may do: each request is denied and on record, and nothing of its call is kept. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { ask, entryText, expectDenied, ids, nowMs, openStoreStage, scope, secret } from "./store-stage.ts";
import type { Name, StoreStage } from "./store-stage.ts";

let stage: StoreStage;
beforeAll(async () => {
  stage = await openStoreStage();
});
afterAll(() => stage[Symbol.asyncDispose]());

const untouched = { "a.md": entryText("a.md", ids.alice, secret) };
const staged = ask("store_write", { scope: "store:self", path: "staged.md", content: "must not stay" });

interface Lie {
  readonly name: string;
  readonly user: Name;
  readonly tool?: string;
  readonly step: { readonly of: string; readonly ask: unknown };
}

const of = (capability: string, request: object) => ask(capability, request);
const file = { scope: scope("alice"), path: "a.md" };
const write = { ...file, content: "mine now" };

const lies: readonly Lie[] = [
  { name: "reads a store that is not shared with it", user: "stranger", step: of("store_read", file) },
  { name: "lists one", user: "stranger", step: of("store_list", { scope: file.scope }) },
  { name: "writes to one", user: "stranger", step: of("store_write", write) },
  { name: "trashes in one", user: "stranger", step: of("store_trash", file) },
  {
    name: "grants itself access to one",
    user: "stranger",
    step: of("grant_set", { scope: file.scope, grantee: ids.stranger, level: "readwrite" }),
  },
  {
    name: "reads a store that does not exist",
    user: "stranger",
    step: of("store_read", { ...file, scope: scope("unknown") }),
  },
  {
    name: "writes to a store that does not exist",
    user: "stranger",
    step: of("store_write", { ...write, scope: scope("unknown") }),
  },
  {
    name: "reads with the level search, without the right",
    user: "searcher",
    tool: "ReadingStorePuppet",
    step: of("store_read", file),
  },
  {
    name: "lists with the level search, without the right",
    user: "searcher",
    tool: "ReadingStorePuppet",
    step: of("store_list", { scope: file.scope }),
  },
  { name: "reads with the level search and every right but that one", user: "searcher", step: of("store_read", file) },
  { name: "writes with the level search", user: "searcher", step: of("store_write", write) },
  { name: "writes with the level read", user: "reader", step: of("store_write", write) },
  { name: "trashes with the level read", user: "reader", step: of("store_trash", file) },
  {
    name: "writes in an export without the right",
    user: "writer",
    tool: "ReadingStorePuppet",
    step: of("store_write", write),
  },
  {
    name: "writes in the export for searching",
    user: "writer",
    tool: "SearchingStorePuppet",
    step: of("store_write", write),
  },
  { name: "asks for grants without the right", user: "writer", tool: "BlindStorePuppet", step: of("grant_list", {}) },
  {
    name: "sets grants without the right",
    user: "alice",
    tool: "ReadingStorePuppet",
    step: of("grant_set", { scope: "store:self", grantee: ids.stranger, level: "read" }),
  },
  {
    name: "shares another's store with readwrite",
    user: "writer",
    step: of("grant_set", { scope: file.scope, grantee: ids.stranger, level: "read" }),
  },
  {
    name: "revokes another's grant with readwrite",
    user: "writer",
    step: of("grant_set", { scope: file.scope, grantee: ids.reader, level: null }),
  },
  {
    name: "grants access to itself",
    user: "alice",
    step: of("grant_set", { scope: "store:self", grantee: ids.alice, level: "read" }),
  },
  {
    name: "grants a level that there is not",
    user: "alice",
    step: of("grant_set", { scope: "store:self", grantee: ids.stranger, level: "admin" }),
  },
  {
    name: "grants for a time that has passed",
    user: "alice",
    step: of("grant_set", { scope: "store:self", grantee: ids.stranger, level: "read", expiresMs: nowMs }),
  },
  {
    name: "grants until no number",
    user: "alice",
    step: of("grant_set", { scope: "store:self", grantee: ids.stranger, level: "read", expiresMs: 1.5 }),
  },
  {
    name: "grants with a key of its own",
    user: "alice",
    step: of("grant_set", { scope: "store:self", grantee: ids.stranger, level: "read", owner: true }),
  },
  {
    name: "asks about a store with a key of its own",
    user: "alice",
    step: of("grant_list", { scope: "store:self", principal: ids.alice }),
  },
  {
    name: "names the host's own folder",
    user: "alice",
    step: of("store_read", { scope: "store:self", path: ".memcell/grants.json" }),
  },
  {
    name: "climbs to the host's own folder",
    user: "alice",
    step: of("store_write", { scope: "store:self", path: "../.memcell/grants.json", content: "{}" }),
  },
  {
    name: "climbs to another store",
    user: "alice",
    step: of("store_read", { scope: "store:self", path: `../../${ids.writer}/entries/a.md` }),
  },
];

test.for(lies)("a guest that $name", async ({ user, tool, step }) => {
  const before = stage.records().length;
  const steps = tool === undefined || tool === "BlindStorePuppet" ? [staged, step] : [step];
  expectDenied(await stage.play(user, steps, tool));
  expect(stage.entries("alice")).toEqual(untouched);
  const records = stage.records().slice(before);
  expect(records.filter(({ kind }) => kind === "use").map((each) => (each as { code?: string }).code)).toEqual([
    "CAPABILITY_DENIED",
  ]);
  expect(records.at(-1)).toMatchObject({
    kind: "call",
    code: "CAPABILITY_DENIED",
    usesDenied: 1,
    changes: steps.length === 2 ? "dropped" : "none",
  });
});

describe("a scope that names no store", () => {
  const { alice } = ids;
  const odd = [
    "store:",
    "store:*",
    "store:self ",
    "store:SELF",
    "STORE:self",
    " store:self",
    "store:self/",
    "store:../self",
    "self",
    alice,
    `store:${alice} `,
    `store:${alice.toUpperCase().replace("1", "A")}`,
    `store:{${alice}}`,
    `store:urn:uuid:${alice}`,
    `store:${alice.replaceAll("-", "")}`,
    `store:${alice}/`,
    `store:${alice}/entries`,
    `store:${alice}\u0000`,
    `store:${alice}\n`,
    `store:store:${alice}`,
    `stores/${alice}`,
    "store:00000000-0000-0000-0000-000000000000",
    "memory",
    "store",
    "entries",
    "grants",
    "users",
    "__proto__",
    "",
  ];
  test.for(odd)("%j", async (name) => {
    for (const request of [{ scope: name, path: "a.md" }]) {
      expectDenied(await stage.play("writer", [ask("store_read", request)]));
      expectDenied(await stage.play("alice", [staged, ask("store_write", { ...request, content: "x" })]));
    }
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

test("every level allows what it says, in the export that may", async () => {
  const read = ask("store_read", file);
  const list = ask("store_list", { scope: file.scope });
  expect(await stage.play("searcher", [read, list], "SearchingStorePuppet")).toMatchObject({ ok: true });
  expect(await stage.play("reader", [read, list])).toMatchObject({ ok: true });
  expect(await stage.play("writer", [read, list, ask("store_write", { ...write, path: "_.by/new.md" })])).toMatchObject(
    { ok: true },
  );
  expect(Object.keys(stage.entries("alice"))).toEqual(["_.by/new.md", "a.md"]);
});
