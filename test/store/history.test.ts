/** The history of files: every version, where its text comes from, and its content, in every kind of store. */
import { describe, expect, test } from "vitest";

import type { OriginClass } from "../../shared/origin.ts";
import { unstatedFacts } from "../stage/store.ts";
import type { ChangeSet, HeldHistory, WriteFacts } from "../stage/store.ts";
import { contentsOf } from "./history-stage.ts";
import { remove, restore, storeKinds, StoreStage, trash, write } from "./store-stage.ts";

const from = (of: OriginClass, more: Partial<WriteFacts> = {}): WriteFacts => ({
  ...unstatedFacts(Date.UTC(2026, 0, 1)),
  class: of,
  trust: of,
  ...more,
});

async function commit(stage: StoreStage, changes: ChangeSet, facts: WriteFacts): Promise<void> {
  await stage.hold("alice", (held) => held.commit(changes, held.reader.seen, { facts }));
}

/** What `look` says of alice's history. */
const history = <Found>(stage: StoreStage, look: (held: HeldHistory) => Found | Promise<Found>): Promise<Found> =>
  stage.hold("alice", async (held) => look(held.history), { writes: false });

const trustOf = (stage: StoreStage, path: string): Promise<OriginClass | undefined> =>
  history(stage, async (held) => (await held.originOf("memory", path))?.trust);

describe.each(storeKinds)("%s", (kind) => {
  test("keeps every version of every file, with who wrote it, in one chain", async () => {
    await using stage = await StoreStage.open(kind);
    const call = from("direct_user", {
      tool: "T",
      plugin: "p",
      principal: "alice",
      run: "r-1",
      turn: "2",
      callId: "c",
    });
    await commit(stage, [write("a.md", "one"), write("b.md", "two")], call);
    await commit(stage, [write("a.md", "three")], { ...call, source: "https://example.com/a" });
    await commit(stage, [trash("b.md", "trash/b.1.md")], from("owner_edit"));
    const [versions, contents] = await history(stage, async (held) => {
      return [await held.versions(), await contentsOf(held)] as const;
    });
    expect(versions).toMatchObject([
      { seq: 1, tool: "T", plugin: "p", principal: "alice", class: "direct_user", run: "r-1", turn: "2", callId: "c" },
      { seq: 2, source: "https://example.com/a", files: [{ path: "a.md", trust: "direct_user" }] },
      {
        seq: 3,
        class: "owner_edit",
        files: [
          { path: "b.md", sha256: null },
          { path: "trash/b.1.md", from: "b.md" },
        ],
      },
    ]);
    expect(versions[1]?.files[0]?.before).toBe(versions[0]?.files[0]?.sha256);
    expect(new Set(versions.map(({ prev }) => prev)).size).toBe(3);
    expect(contents).toEqual({ "a.md": ["one", "three"], "b.md": ["two", null], "trash/b.1.md": ["two"] });
  });

  test("trust never rises by an edit, a move, a copy in the place of a removed file, or a restore", async () => {
    await using stage = await StoreStage.open(kind);
    await commit(stage, [write("a.md", "poison")], from("tool_external"));
    await commit(stage, [write("a.md", "poison, edited")], from("direct_user"));
    expect(await trustOf(stage, "a.md")).toBe("tool_external");
    await commit(stage, [trash("a.md", "trash/a.1.md")], from("direct_user"));
    expect(await trustOf(stage, "trash/a.1.md")).toBe("tool_external");
    await commit(stage, [restore("trash/a.1.md", "b.md")], from("owner_edit"));
    expect(await trustOf(stage, "b.md")).toBe("tool_external");
    await commit(stage, [write("c.md", "poison, edited"), remove("b.md")], from("owner_edit"));
    expect(await trustOf(stage, "c.md")).toBe("tool_external");
    await commit(stage, [remove("c.md")], from("owner_edit"));
    await commit(stage, [write("c.md", "another text")], from("direct_user"));
    expect(await trustOf(stage, "c.md")).toBe("direct_user");
  });

  test("trust does not rise by a write and a move in one change, or by one of two removed files", async () => {
    await using stage = await StoreStage.open(kind);
    await commit(stage, [write("a.md", "poison"), write("b.md", "poison")], from("tool_external"));
    await commit(stage, [write("a.md", "poison."), trash("a.md", "trash/a.1.md")], from("direct_user"));
    expect(await trustOf(stage, "trash/a.1.md")).toBe("tool_external");
    await commit(stage, [write("c.md", "poison")], from("direct_user"));
    await commit(stage, [remove("b.md"), remove("c.md"), write("d.md", "poison")], from("direct_user"));
    expect(await trustOf(stage, "d.md")).toBe("tool_external");
  });

  test("an approval raises what is written, and not what moves out of its way", async () => {
    await using stage = await StoreStage.open(kind);
    await commit(stage, [write("a.md", "poison")], from("tool_external"));
    const facts = { ...from("tool_external"), trust: "owner_edit" as const };
    const changes = [trash("a.md", "trash/a.1.md"), write("a.md", "approved")];
    await stage.hold("alice", (held) => held.commit(changes, [], { facts, kind: "approved" }));
    expect([await trustOf(stage, "a.md"), await trustOf(stage, "trash/a.1.md")]).toEqual([
      "owner_edit",
      "tool_external",
    ]);
  });

  test("trust falls with each less trusted write, and rises when the owner approves", async () => {
    await using stage = await StoreStage.open(kind);
    for (const each of ["direct_user", "tool_internal", "untrusted_document", "model_inference"] as const) {
      await commit(stage, [write("a.md", each)], from(each));
    }
    expect(await trustOf(stage, "a.md")).toBe("untrusted_document");
    const facts = { ...from("tool_external"), trust: "owner_edit" as const };
    await stage.hold("alice", (held) => held.commit([write("a.md", "approved")], [], { facts, kind: "approved" }));
    const origin = await history(stage, (held) => held.originOf("memory", "a.md"));
    expect(origin).toMatchObject({ class: "tool_external", trust: "owner_edit", kind: "approved" });
  });

  test("a move changes neither where a text comes from nor when it was written", async () => {
    await using stage = await StoreStage.open(kind);
    await commit(stage, [write("a.md", "x")], from("tool_internal", { atMs: 1_000 }));
    await commit(stage, [trash("a.md", "trash/a.md")], from("owner_edit", { atMs: 2_000 }));
    const moved = await history(stage, (held) => held.originOf("memory", "trash/a.md"));
    expect(moved).toMatchObject({ class: "tool_internal", atMs: 1_000, seq: 1 });
  });

  test("an import is trusted no more than any version with the same content", async () => {
    await using stage = await StoreStage.open(kind);
    await commit(stage, [write("a.md", "poison")], from("tool_external"));
    await commit(stage, [remove("a.md")], from("owner_edit"));
    const imported = [write("a.md", "poison"), write("b.md", "other")];
    await stage.hold("alice", (held) => held.commit(imported, [], { facts: from("unstated"), kind: "imported" }));
    expect([await trustOf(stage, "a.md"), await trustOf(stage, "b.md")]).toEqual(["tool_external", "unstated"]);
  });

  test("a purge is a version, and the contents of what was purged are gone", async () => {
    await using stage = await StoreStage.open(kind);
    await commit(stage, [write("a.md", "secret"), write("b.md", "honest")], from("direct_user"));
    await commit(stage, [trash("a.md", "trash/a.md")], from("direct_user"));
    await commit(stage, [remove("trash/a.md")], from("owner_edit"));
    expect(await history(stage, contentsOf)).toEqual({
      "a.md": [null, null],
      "b.md": ["honest"],
      "trash/a.md": [null, null],
    });
    expect(await history(stage, async (held) => (await held.versions()).at(-1))).toMatchObject({
      seq: 3,
      kind: "purged",
    });
  });

  test("a change that changes nothing adds no version, and neither does a failed one", async () => {
    await using stage = await StoreStage.open(kind);
    await commit(stage, [write("a.md", "x")], from("direct_user"));
    await commit(stage, [write("a.md", "x")], from("untrusted_document"));
    await expect(commit(stage, [remove("none.md")], from("direct_user"))).rejects.toThrow();
    expect(await history(stage, async (held) => (await held.versions()).length)).toBe(1);
    expect(await trustOf(stage, "a.md")).toBe("direct_user");
  });

  test("users have histories of their own, and so have shared stores", async () => {
    await using stage = await StoreStage.open(kind);
    const store = "aaaaaaaa-0000-4000-8000-000000000000" as Parameters<StoreStage["holdStores"]>[0][number];
    await commit(stage, [write("a.md", "x")], from("direct_user"));
    await stage.commitStores([write("b.md", "y", `store:${store}`)], { facts: from("tool_internal") });
    const ofStore = await stage.holdStores([store], async (held) => held.history(store).versions());
    expect(ofStore).toMatchObject([{ seq: 1, class: "tool_internal", files: [{ scope: "entries", path: "b.md" }] }]);
    expect(await stage.hold("bob", async (held) => held.history.versions())).toEqual([]);
    expect(await history(stage, async (held) => (await held.versions()).length)).toBe(1);
  });
});
