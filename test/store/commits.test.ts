/** A store's guarantees for a change set: all or nothing, based on the current files. */
import { describe, expect, test } from "vitest";

import type { Seen } from "../stage/store.ts";
import { remove, restore, storeKinds, StoreStage, trash, write } from "./store-stage.ts";

const mebibyte = 2 ** 20;

async function filesOf(stage: StoreStage, userId = "alice"): Promise<Record<string, string>> {
  return await stage.hold(userId, async ({ reader }) => {
    const { files } = await reader.survey("memory");
    const read = files.map(async ({ path }) => [
      path,
      String(Buffer.from((await reader.bytesOf("memory", path)) ?? [])),
    ]);
    return Object.fromEntries(await Promise.all(read)) as Record<string, string>;
  });
}

describe.each(storeKinds)("%s", (kind) => {
  test("writes, replaces, moves to the trash and removes, in the order of the steps", async () => {
    await using stage = await StoreStage.open(kind);
    await stage.commit("alice", [write("a.md", "one"), write("b.md", "two"), write("a.md", "three")]);
    expect(await filesOf(stage)).toEqual({ "a.md": "three", "b.md": "two" });
    await stage.commit("alice", [trash("a.md", "trash/a.1.md"), write("a.md", "anew"), remove("b.md")]);
    expect(await filesOf(stage)).toEqual({ "a.md": "anew", "trash/a.1.md": "three" });
    await stage.commit("alice", [write("c.md", "brief"), trash("c.md", "trash/c.1.md"), remove("trash/a.1.md")]);
    expect(await filesOf(stage)).toEqual({ "a.md": "anew", "trash/c.1.md": "brief" });
    await stage.commit("alice", [trash("a.md", "trash/a.2.md"), write("a.md", "anew")]);
    expect(await filesOf(stage)).toEqual({ "a.md": "anew", "trash/a.2.md": "anew", "trash/c.1.md": "brief" });
  });

  test("moves several files out of the trash, together with a write and a removal", async () => {
    await using stage = await StoreStage.open(kind);
    const paths = ["r/1.md", "r/2.md", "r/sub/3.md"];
    await stage.commit(
      "alice",
      paths.map((path) => write(path, path)),
    );
    await stage.commit(
      "alice",
      paths.map((path) => trash(path, `trash/${path}`)),
    );
    await stage.commit("alice", [
      write("r/1.md", "r/1.md"),
      remove("trash/r/1.md"),
      ...paths.slice(1).map((path) => restore(`trash/${path}`, path)),
    ]);
    expect(await filesOf(stage)).toEqual(Object.fromEntries(paths.map((path) => [path, path])));
    await stage.commit("alice", [trash("r/1.md", "trash/x"), restore("trash/x", "r/4.md")]);
    expect(Object.keys(await filesOf(stage))).toEqual(["r/2.md", "r/4.md", "r/sub/3.md"]);
  });

  test.each([
    { name: "a move of a missing file", last: trash("none.md", "trash/none.1.md") },
    { name: "a removal of a missing file", last: remove("none.md") },
    { name: "a move to a taken place", last: trash("b.md", "trash/a.1.md") },
    { name: "a restore of a missing file", last: restore("trash/none.1.md", "none.md") },
    { name: "a restore to a taken place", last: restore("trash/a.1.md", "b.md") },
    { name: "a restore to an invalid path", last: restore("trash/a.1.md", "../a.md") },
    { name: "an invalid path", last: write("../b.md", "x") },
  ])("applies nothing of a change set that ends in $name", async ({ last }) => {
    await using stage = await StoreStage.open(kind);
    await stage.commit("alice", [write("a.md", "one"), write("b.md", "two")]);
    await stage.commit("alice", [trash("a.md", "trash/a.1.md")]);
    const before = await filesOf(stage);
    const steps = [write("new.md", "x"), write("b.md", "changed"), last];
    await expect(stage.commit("alice", steps)).rejects.toMatchObject({ code: /^(STORAGE_FAILED|CAPABILITY_DENIED)$/ });
    expect(await filesOf(stage)).toEqual(before);
    await stage.commit("alice", [write("new.md", "x")]);
    expect(await filesOf(stage)).toEqual({ ...before, "new.md": "x" });
  });

  test.each([
    { name: "a file in the place of a folder that another file needs", steps: [write("a", "1"), write("a/x.md", "2")] },
    { name: "a file in the place of an existing folder", steps: [write("a/b/x.md", "2"), write("a", "1")] },
    {
      name: "a trashed file inside another trashed file",
      steps: [write("a", "1"), write("b", "2"), trash("a", "trash/a.1"), trash("b", "trash/a.1/b.1")],
    },
  ])("refuses what no store can keep with NAME_CONFLICT and applies nothing: $name", async ({ steps }) => {
    await using stage = await StoreStage.open(kind);
    await stage.commit("alice", [write("kept.md", "one")]);
    await expect(stage.commit("alice", steps)).rejects.toMatchObject({ code: "NAME_CONFLICT" });
    expect(await filesOf(stage)).toEqual({ "kept.md": "one" });
    await stage.commit("alice", [write("next.md", "two")]);
    expect(await filesOf(stage)).toEqual({ "kept.md": "one", "next.md": "two" });
  });

  test("refuses more than 80 MiB in one change set with QUOTA_EXCEEDED and applies nothing", async () => {
    await using stage = await StoreStage.open(kind);
    const content = "x".repeat(mebibyte);
    const many = Array.from({ length: 81 }, (_, at) => write(`${at}.md`, content));
    await expect(stage.commit("alice", many)).rejects.toMatchObject({ code: "QUOTA_EXCEEDED" });
    expect(await filesOf(stage)).toEqual({});
    await stage.commit("alice", many.slice(0, 3));
    expect(Object.keys(await filesOf(stage))).toHaveLength(3);
  });

  test("repeats a call whose read file has changed, without what the first attempt read", async () => {
    await using stage = await StoreStage.open(kind);
    await stage.commit("alice", [write("a.md", "one")]);
    const wrong: Seen = { scope: "memory", path: "a.md", digest: null };
    let attempts = 0;
    await stage.hold("alice", async (held) => {
      await held.reader.bytesOf("memory", "a.md");
      attempts++;
      await held.commit([write("a.md", `attempt ${attempts}`)], attempts === 1 ? [wrong] : held.reader.seen);
    });
    expect(attempts).toBe(2);
    expect(await filesOf(stage)).toEqual({ "a.md": "attempt 2" });
  });

  test("a call that is stale every time is BUSY, and has changed nothing", async () => {
    await using stage = await StoreStage.open(kind);
    await stage.commit("alice", [write("a.md", "one")]);
    let attempts = 0;
    const stale = stage.hold("alice", async (held) => {
      attempts++;
      await held.commit(
        [write("a.md", "lost"), write("b.md", "lost")],
        [{ scope: "memory", path: "a.md", digest: null }],
      );
    });
    await expect(stale).rejects.toMatchObject({ code: "BUSY" });
    expect(attempts).toBe(3);
    expect(await filesOf(stage)).toEqual({ "a.md": "one" });
  });

  test("a place that was free when the call looked and is taken now makes the call stale", async () => {
    await using stage = await StoreStage.open(kind);
    await stage.commit("alice", [write("a.md", "one"), write("b.md", "two"), trash("b.md", "trash/b.1.md")]);
    const seen: Seen[] = [{ scope: "memory", path: "a.md", digest: null }];
    const stale = stage.commit("alice", [restore("trash/b.1.md", "a.md")], seen);
    await expect(stale).rejects.toMatchObject({ code: "BUSY" });
    expect(await filesOf(stage)).toEqual({ "a.md": "one", "trash/b.1.md": "two" });
  });

  test("a file that was read twice with different content makes the call stale, whichever was last", async () => {
    await using stage = await StoreStage.open(kind);
    await stage.commit("alice", [write("a.md", "one")]);
    const [current] = await stage.hold("alice", async ({ reader }) => {
      await reader.bytesOf("memory", "a.md");
      return reader.seen;
    });
    const other: Seen = { scope: "memory", path: "a.md", digest: null };
    for (const seen of [
      [current, other],
      [other, current],
    ] as Seen[][]) {
      await expect(stage.commit("alice", [write("a.md", "lost")], seen)).rejects.toMatchObject({ code: "BUSY" });
    }
    await stage.commit("alice", [write("a.md", "two")], [current, current] as Seen[]);
    expect(await filesOf(stage)).toEqual({ "a.md": "two" });
  });

  test("a file that was read but is not changed can differ by now", async () => {
    await using stage = await StoreStage.open(kind);
    await stage.commit("alice", [write("a.md", "one")], [{ scope: "memory", path: "b.md", digest: "0".repeat(64) }]);
    expect(await filesOf(stage)).toEqual({ "a.md": "one" });
  });

  test("an empty change set creates nothing, and one that only looks cannot commit", async () => {
    await using stage = await StoreStage.open(kind);
    await stage.commit("alice", []);
    expect(await stage.store.users()).toEqual([]);
    const looking = stage.hold("alice", (held) => held.commit([write("a.md", "x")], []), { isLookingOnly: true });
    await expect(looking).rejects.toThrow(RangeError);
    const reading = stage.hold("alice", (held) => held.commit([write("a.md", "x")], []), { writes: false });
    await expect(reading).rejects.toThrow(RangeError);
    expect(await stage.store.users()).toEqual([]);
  });

  test("a user whose files are all removed still exists and has a scope", async () => {
    await using stage = await StoreStage.open(kind);
    await stage.commit("alice", [write("a.md", "one")]);
    await stage.commit("alice", [remove("a.md")]);
    expect(await stage.store.users()).toEqual(["alice"]);
    expect(await stage.hold("alice", ({ reader }) => reader.scopes())).toEqual(["memory"]);
    expect(await stage.ask("alice", ["read", "memory", "a.md"], ["list", "memory", ""])).toEqual([
      { value: null },
      { value: [] },
    ]);
  });

  test("a guest sees what is committed, and nothing before", async () => {
    await using stage = await StoreStage.open(kind);
    await stage.commit("alice", [write("a.md", "one")]);
    await stage.hold("alice", async (held) => {
      expect(await stage.ask("alice", ["read", "memory", "a.md"])).toEqual([{ value: "one" }]);
      await held.commit([write("a.md", "two"), write("b.md", "new")], []);
      expect(await stage.ask("alice", ["read", "memory", "a.md"], ["sizeOf", "memory", "b.md"])).toEqual([
        { value: "two" },
        { value: 3 },
      ]);
    });
  });

  test("the host reads what it has committed, and nothing after releasing the user", async () => {
    await using stage = await StoreStage.open(kind);
    const kept = await stage.hold("alice", async (held) => {
      expect(await held.reader.list("memory", "")).toEqual([]);
      await held.commit([write("a.md", "one")], []);
      expect(await held.reader.scopeSize("memory")).toMatchObject({ live: { files: 1, bytes: 3 } });
      await held.commit([write("a.md", "longer"), write("b.md", "two")], []);
      expect(await held.reader.scopeSize("memory")).toMatchObject({ live: { files: 2, bytes: 9 } });
      expect(await held.reader.list("memory", "b")).toMatchObject([{ path: "b.md", bytes: 3 }]);
      return held;
    });
    await expect(Promise.resolve().then(() => kept.reader.scopes())).rejects.toThrow(RangeError);
  });

  test("a user written only by the store has no findings", async () => {
    await using stage = await StoreStage.open(kind);
    const findings = async (): Promise<unknown> =>
      await stage.hold("alice", (held) => held.findings(), { writes: false, isLookingOnly: true });
    expect(await findings()).toEqual([]);
    await stage.commit("alice", [write("a.md", "one"), write("b/c.md", "two")]);
    await stage.commit("alice", [trash("a.md", "trash/a.1.md")]);
    expect(await findings()).toEqual([]);
  });
});
