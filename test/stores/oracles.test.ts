/** A caller cannot find out whether a store that it does not reach exists, nor what is in it. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { ask, entryText, ids, openStoreStage, scope, secret } from "./store-stage.ts";
import type { Name, StoreStage } from "./store-stage.ts";

let stage: StoreStage;
beforeAll(async () => {
  stage = await openStoreStage();
});
afterAll(() => stage[Symbol.asyncDispose]());

const toldPrograms = (user: Name): Promise<unknown> =>
  stage.runtime
    .stores({ userId: ids.stranger })
    .getInternal(ids[user], "k")
    .catch((error: Error) => error.message);

/** The vectors of `memory-access` show it for each command. */
describe("a store that the caller does not reach answers as one that does not exist, to the byte", () => {
  const file = { path: "a.md" };
  test.for<readonly [capability: string, request: object]>([
    ["store_read", file],
    ["store_list", {}],
    ["store_write", { ...file, content: "x" }],
    ["store_trash", file],
    ["grant_list", {}],
    ["grant_set", { grantee: ids.reader, level: "read" }],
  ])("%s of a guest", async ([capability, request]) => {
    const told = async (user: Name): Promise<string> => {
      const answer = await stage.play("stranger", [ask(capability, { scope: scope(user), ...request })]);
      return JSON.stringify(answer).replaceAll(ids[user], "ID");
    };
    expect(await told("alice")).toBe(await told("unknown"));
  });

  test("programs are told the same", async () => {
    expect(await toldPrograms("alice")).toBe(await toldPrograms("unknown"));
  });
});

test("what is denied leaves nothing behind: no folder, no hint, no lock", async () => {
  const path = `/memories/shared/${ids.unknown}/`;
  for (const command of ["view", "create", "delete", "search", "share"]) {
    const result = await stage.memory("stranger", { command, path, content: "x", query: "x", agent: ids.reader });
    expect(result).toMatchObject({ ok: false });
  }
  expect(() => stage.entries("unknown")).toThrow("ENOENT");
});

test("the audit log says which store was asked for, and that there was no access", async () => {
  const before = stage.records().length;
  await stage.memory("stranger", { command: "view", path: `/memories/shared/${ids.alice}/a.md` });
  await stage.memory("reader", { command: "view", path: `/memories/shared/${ids.alice}/a.md` });
  const records = stage.records().slice(before);
  const asked = [
    { store: ids.stranger, access: "self" },
    { store: ids.alice, access: "none", level: null },
  ];
  const had = [
    { store: ids.reader, access: "self" },
    { store: ids.alice, access: "grant", level: "read" },
  ];
  expect(records.filter(({ kind }) => kind === "call")).toMatchObject([{ stores: asked }, { stores: had }]);
});

test("hits, counts and order of a search say nothing about what the caller does not reach", async () => {
  const told = (): Promise<unknown> => stage.memory("stranger", { command: "search", query: "secret own" });
  const before = await told();
  stage.write(`${ids.alice}/entries/more.md`, entryText("more.md", ids.alice, "own secret ".repeat(50)));
  expect(await told()).toEqual(before);
});

test.for([`stores/${ids.alice}`, ids.writer])(
  "a store whose owner on record is %s shows nothing, and is not written",
  async (owner) => {
    await using trapped = await openStoreStage({ grants: [{ grantee: ids.writer, level: "search" }] });
    trapped.write(`${ids.writer}/.memcell/owner`, owner);
    trapped.write(`${ids.writer}/entries/b.md`, entryText("b.md", ids.writer, secret));
    for (const input of [
      { command: "view", path: "/memories/b.md" },
      { command: "create", path: "/memories/a.md", content: "over it" },
    ]) {
      const result = await trapped.memory("writer", input);
      expect(result).toMatchObject({ ok: false, error: { code: "STORAGE_UNSAFE" } });
      for (const hidden of [secret, trapped.dataDir]) expect(JSON.stringify(result)).not.toContain(hidden);
    }
  },
);
