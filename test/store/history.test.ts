/** The history of files: every version, where its text comes from, and its content, of each kind of home. */
import { describe, expect, test } from "vitest";

import type { OriginClass } from "../../shared/origin.ts";
import { unstatedFacts } from "../stage/store.ts";
import type { CommitFacts, HeldHistory, WriteFacts } from "../stage/store.ts";
import { contentsOf, homesIn, openEngines, remove, restore, trash, write } from "./store-stage.ts";
import type { Home } from "./store-stage.ts";

const from = (of: OriginClass, facts: Partial<WriteFacts> = {}): CommitFacts => ({
  facts: { ...unstatedFacts(Date.UTC(2026, 0, 1)), class: of, trust: of, ...facts },
});
const approved: CommitFacts = { ...from("tool_external", { trust: "owner_edit" }), kind: "approved" };

const history = <Found>(home: Home, look: (held: HeldHistory) => Found | Promise<Found>): Promise<Found> =>
  home.hold(async (held) => look(held.history), { writes: false });

const trustOf = (home: Home, ...paths: readonly string[]): Promise<(OriginClass | undefined)[]> =>
  history(home, (held) => Promise.all(paths.map(async (path) => (await held.originOf(home.scope, path))?.trust)));

describe.each(homesIn(await openEngines()))("$name", ({ newHome }) => {
  /** With `a.md` from outside. */
  async function poisoned(): Promise<Home> {
    const home = newHome();
    await home.commit([write("a.md", "poison")], [], from("tool_external"));
    return home;
  }

  test("keeps every version of every file, with who wrote it, in one chain, and no other home's", async () => {
    const home = newHome();
    const call = { tool: "T", plugin: "p", principal: "alice", run: "r-1", turn: "2", callId: "c" };
    await home.commit([write("a.md", "one"), write("b.md", "two")], [], from("direct_user", call));
    const source = "https://example.com/a";
    await home.commit([write("a.md", "three")], [], from("direct_user", { ...call, source }));
    await home.commit([trash("b.md", "trash/b.1.md")], [], from("owner_edit"));
    const versions = await history(home, (held) => held.versions());
    expect(versions).toMatchObject([
      { seq: 1, class: "direct_user", ...call },
      { seq: 2, source, files: [{ scope: home.scope, path: "a.md", trust: "direct_user" }] },
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
    const contents = { "a.md": ["one", "three"], "b.md": ["two", null], "trash/b.1.md": ["two"] };
    expect(await history(home, contentsOf)).toEqual(contents);
    expect(await history(newHome(), (held) => held.versions())).toEqual([]);
  });

  test("trust never rises by an edit, a move, a copy in the place of a removed file, or a restore", async () => {
    const home = await poisoned();
    await home.commit([write("a.md", "poison, edited")], [], from("direct_user"));
    expect(await trustOf(home, "a.md")).toEqual(["tool_external"]);
    await home.commit([trash("a.md", "trash/a.1.md")], [], from("direct_user"));
    expect(await trustOf(home, "trash/a.1.md")).toEqual(["tool_external"]);
    await home.commit([restore("trash/a.1.md", "b.md")], [], from("owner_edit"));
    expect(await trustOf(home, "b.md")).toEqual(["tool_external"]);
    await home.commit([write("c.md", "poison, edited"), remove("b.md")], [], from("owner_edit"));
    expect(await trustOf(home, "c.md")).toEqual(["tool_external"]);
    await home.commit([remove("c.md")], [], from("owner_edit"));
    await home.commit([write("c.md", "another text")], [], from("direct_user"));
    expect(await trustOf(home, "c.md")).toEqual(["direct_user"]);
  });

  test("trust does not rise by a write and a move in one change, or by one of two removed files", async () => {
    const home = await poisoned();
    await home.commit([write("b.md", "poison")], [], from("tool_external"));
    await home.commit([write("a.md", "poison."), trash("a.md", "trash/a.1.md")], [], from("direct_user"));
    await home.commit([write("c.md", "poison")], [], from("direct_user"));
    await home.commit([remove("b.md"), remove("c.md"), write("d.md", "poison")], [], from("direct_user"));
    expect(await trustOf(home, "trash/a.1.md", "d.md")).toEqual(["tool_external", "tool_external"]);
  });

  test("trust falls with each less trusted write, and an approval raises what is written, and nothing else", async () => {
    const home = newHome();
    for (const each of ["direct_user", "tool_internal", "untrusted_document", "model_inference"] as const) {
      await home.commit([write("a.md", each)], [], from(each));
    }
    expect(await trustOf(home, "a.md")).toEqual(["untrusted_document"]);
    await home.commit([trash("a.md", "trash/a.1.md"), write("a.md", "approved")], [], approved);
    expect(await trustOf(home, "a.md", "trash/a.1.md")).toEqual(["owner_edit", "untrusted_document"]);
    const origin = await history(home, (held) => held.originOf(home.scope, "a.md"));
    expect(origin).toMatchObject({ class: "tool_external", kind: "approved" });
  });

  test("a move changes neither where a text comes from nor when it was written", async () => {
    const home = newHome();
    await home.commit([write("a.md", "x")], [], from("tool_internal", { atMs: 1_000 }));
    await home.commit([trash("a.md", "trash/a.md")], [], from("owner_edit", { atMs: 2_000 }));
    const moved = await history(home, (held) => held.originOf(home.scope, "trash/a.md"));
    expect(moved).toMatchObject({ class: "tool_internal", atMs: 1_000, seq: 1 });
  });

  test("an import is trusted no more than any version with the same content", async () => {
    const home = await poisoned();
    await home.commit([remove("a.md")], [], from("owner_edit"));
    const imported = [write("a.md", "poison"), write("b.md", "other")];
    await home.commit(imported, [], { ...from("unstated"), kind: "imported" });
    expect(await trustOf(home, "a.md", "b.md")).toEqual(["tool_external", "unstated"]);
  });

  test("a purge is a version, and the contents of what was purged are gone", async () => {
    const home = newHome();
    await home.commit([write("a.md", "secret"), write("b.md", "honest")], [], from("direct_user"));
    await home.commit([trash("a.md", "trash/a.md")], [], from("direct_user"));
    await home.commit([remove("trash/a.md")], [], from("owner_edit"));
    const contents = { "a.md": [null, null], "b.md": ["honest"], "trash/a.md": [null, null] };
    expect(await history(home, contentsOf)).toEqual(contents);
    const last = await history(home, async (held) => (await held.versions()).at(-1));
    expect(last).toMatchObject({ seq: 3, kind: "purged" });
  });

  test("a change that changes nothing adds no version, and neither does a failed one", async () => {
    const home = newHome();
    await home.commit([write("a.md", "x")], [], from("direct_user"));
    await home.commit([write("a.md", "x")], [], from("untrusted_document"));
    await expect(home.commit([remove("none.md")], [], from("direct_user"))).rejects.toThrow();
    expect(await history(home, async (held) => (await held.versions()).length)).toBe(1);
    expect(await trustOf(home, "a.md")).toEqual(["direct_user"]);
  });
});
