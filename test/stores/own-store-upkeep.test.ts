/** The owner of a store checks, restores, purges, exports and imports it like any other part of the memory. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { storeIdOf } from "memcell";
import type { CallContext, MemoryFile } from "memcell";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { readZip } from "../stage/archive.ts";
import { zippedBytes } from "../support/zipped-bytes.ts";
import { entryText, ids, nowMs, openStoreStage, scope, secret } from "./store-stage.ts";
import type { StoreStage } from "./store-stage.ts";

const alice = { userId: ids.alice };
const reader = { userId: ids.reader };

let now = nowMs;
let stage: StoreStage;
beforeEach(async () => {
  now = nowMs;
  stage = await openStoreStage({ clock: () => now });
});
afterEach(async () => {
  await stage[Symbol.asyncDispose]();
});

const memory = (ctx: CallContext, input: object): Promise<unknown> => stage.runtime.callAsHost("memory", input, ctx);
const create = (path: string, content: string, ttl?: number): object => ({
  command: "create",
  path: `/memories/${path}`,
  content,
  ...(ttl !== undefined && { ttl }),
});
const paths = (files: readonly MemoryFile[]): string[] => files.map((file) => `${file.scope}/${file.path}`);

describe("the doctor", () => {
  test("looks after users who have only a store, and after chats", async () => {
    const chat = "c0000000-0000-4000-8000-000000000001";
    const vouched = { userId: "carol", stores: [{ id: chat, kind: "chat" as const }] };
    await memory({ userId: "carol" }, create("b", "text", 1));
    await memory(vouched, create(`shared/${chat}/b`, "text", 1));
    now += 999;
    expect(await stage.runtime.upkeep.inspect({ userId: "carol" })).toEqual([]);
    now += 1;
    const users = await stage.runtime.upkeep.users();
    expect(users).toEqual(expect.arrayContaining(["carol", chat]));
    for (const userId of ["carol", chat]) {
      expect(await stage.runtime.upkeep.mend({ userId })).toMatchObject([{ problem: "entry-expired" }]);
      expect(await stage.runtime.upkeep.inspect({ userId })).toEqual([]);
    }
  });

  test("indexes what people have written, if it makes searches slow", async () => {
    const write = (from: number, to: number): void => {
      for (let at = from; at < to; at++) {
        stage.write(
          `${ids.alice}/entries/b${at}.md`,
          entryText(`b${at}.md`, ids.alice, `kayak${at} ${"x".repeat(4096)}`),
        );
      }
    };
    write(0, 100);
    // What no tool reads is told, and left.
    stage.write(`${ids.alice}/entries/photo.png`, "x");
    const unused = { path: "store/photo.png", problem: "file-unused", remedy: null };
    expect(await stage.runtime.upkeep.inspect(alice)).toMatchObject([unused]);
    write(100, 150);
    const behind = { path: "store/_.index", problem: "search-index-behind", remedy: "index them" };
    expect(await stage.runtime.upkeep.mend(alice)).toMatchObject([behind]);
    expect(await stage.runtime.upkeep.inspect(alice)).toMatchObject([unused]);
    const folder = join(stage.dataDir, "stores", ids.alice, "entries/_.index");
    const index = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
    expect(index.join("").match(/\nkayak\d+ /g)).toHaveLength(150);
    expect(await memory(alice, { command: "search", query: "kayak149" })).toMatchObject({
      data: { results: [{ key: "b149.md" }] },
    });
  });
});

test("the owner clears what another has filled the store with, and nobody else does", async () => {
  const by = `${ids.alice}/entries/_.by/${ids.writer}`;
  for (let at = 0; at < 20; at++) stage.write(`${by}/k${at}.md`, entryText(`k${at}.md`, ids.writer, "x"));
  expect(await memory(alice, { command: "delete", path: "/memories/k1.md" })).toMatchObject({
    error: { code: "NOT_CREATOR" },
  });
  const stores = stage.runtime.stores(alice);
  expect(await stage.runtime.stores(reader).clear(ids.writer)).toBe(0);
  await expect(stores.clear(ids.alice)).rejects.toMatchObject({ code: "INPUT_INVALID" });
  expect(await stores.clear(ids.writer)).toBe(20);
  expect(Object.keys(stage.entries("alice")).filter((path) => !path.startsWith("trash/"))).toEqual(["a.md"]);
});

test("the trash lists, restores and purges what was deleted", async () => {
  const changed = new Set<string>();
  stage.runtime.onChange(({ files }) => {
    for (const file of files) changed.add(file.scope);
  });
  await memory(alice, { command: "delete", path: "/memories/a.md" });
  const [trashed, ...others] = await stage.runtime.upkeep.listTrash(alice);
  expect(others).toEqual([]);
  expect(trashed).toMatchObject({ scope: "store" });
  expect(await stage.runtime.upkeep.restore(alice, trashed?.name ?? "")).toMatchObject({ scope: "store" });
  expect(await memory(alice, { command: "view", path: "/memories/a.md" })).toMatchObject({
    data: { entries: [{ value: secret }] },
  });
  expect(await memory(alice, { command: "search", query: "secret" })).toMatchObject({ data: { results: [{}] } });
  await memory(alice, { command: "delete", path: "/memories/a.md" });
  now += 1_000;
  expect(await stage.runtime.upkeep.purge(alice, { beforeEpochMs: now })).toHaveLength(1);
  expect(await stage.runtime.upkeep.listTrash(alice)).toEqual([]);
  // Listeners and the audit log know the store by its id, whoever changes it.
  expect([...changed]).toEqual([scope("alice")]);
  const recorded = stage
    .records()
    .flatMap((record) => ("writes" in record ? record.writes.concat(record.removed) : []));
  expect(new Set(recorded.map((file) => file.scope))).toEqual(changed);
});

test("only the owner exports a store: nobody else's export has its files", async () => {
  const { files } = await stage.runtime.upkeep.export(alice);
  expect(paths(files)).toEqual(["store/a.md"]);
  const others = await stage.runtime.upkeep.export(reader);
  expect(paths(others.files)).toEqual([]);
});

test("an export is imported into another user's store, whose entries they then are", async () => {
  await stage.runtime.stores(alice).setInternal(null, "k", "internal", { namespace: "app" });
  await memory({ userId: ids.writer }, create(`shared/${ids.alice}/b.md`, "the writer's"));
  const exported = await stage.runtime.upkeep.export(alice);
  const files = await readZip(await zippedBytes(exported.files));
  const bob = { userId: "bob" };
  const plan = await stage.runtime.upkeep.planImport(bob, files);
  expect(plan.refused).toEqual([]);
  const changed = new Set<string>();
  const stop = stage.runtime.onChange((change) => {
    for (const file of change.files) changed.add(file.scope);
  });
  expect(await stage.runtime.upkeep.import(bob, files)).toEqual(plan);
  stop();
  expect([...changed]).toEqual([`store:${storeIdOf("bob")}`]);
  expect(await memory(bob, { command: "view", path: "/memories/" })).toMatchObject({
    data: {
      entries: [
        { key: "a.md", owner: storeIdOf("bob") },
        { key: "b.md", owner: ids.writer },
      ],
    },
  });
  expect(await stage.runtime.stores(bob).getInternal(null, "k", { namespace: "app" })).toBe("internal");
  expect(await memory(bob, { command: "edit", path: "/memories/a.md", old_str: "secret", new_str: "s" })).toMatchObject(
    {
      ok: true,
    },
  );
  expect(await stage.runtime.upkeep.inspect(bob)).toEqual([]);
  // Where they come from, they are all there already.
  expect(await stage.runtime.upkeep.import(alice, files)).toMatchObject({ created: [], replaced: [] });
});
