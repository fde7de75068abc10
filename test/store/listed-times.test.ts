/** A listing tells when each file was last changed, in the scopes of users as in shared stores. */
import { chmodSync, utimesSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import type { ListedFile } from "../../shared/abi.ts";
import { remove, restore, storeKinds, StoreStage, trash, write } from "./store-stage.ts";

/** The times in a listing, by path. */
async function timesIn(stage: StoreStage, prefix = ""): Promise<Map<string, number>> {
  const [answer] = await stage.ask("alice", ["list", "memory", prefix]);
  const files = answer !== undefined && "value" in answer ? (answer.value as ListedFile[]) : [];
  return new Map(files.map(({ path, changedUs = -1 }) => [path, changedUs]));
}

describe.each(storeKinds)("%s", (kind) => {
  test("a file has the time of its last change, and keeps it while others change", async () => {
    await using stage = await StoreStage.open(kind);
    const startUs = Date.now() * 1_000;
    await stage.commit("alice", [write("a.md", "one"), write("b.md", "one")]);
    const first = await timesIn(stage);
    let second = first;
    // A file system's clock goes in steps of some milliseconds.
    while (second.get("a.md") === first.get("a.md")) {
      // oxlint-disable-next-line no-await-in-loop -- each write depends on the time of the one before
      await stage.commit("alice", [write("a.md", "two")]);
      // oxlint-disable-next-line no-await-in-loop -- as above
      second = await timesIn(stage);
    }
    expect(second.get("a.md")).toBeGreaterThan(first.get("a.md") ?? 0);
    expect(second.get("b.md")).toBe(first.get("b.md"));
    for (const time of second.values()) expect(Math.abs(time - startUs)).toBeLessThan(60_000_000);
  });

  test("a file that goes to the trash and comes back has been changed", async () => {
    await using stage = await StoreStage.open(kind);
    await stage.commit("alice", [write("a.md", "one"), write("b.md", "one")]);
    const before = await timesIn(stage);
    await stage.commit("alice", [trash("a.md", "trash/a.1.md")]);
    const trashed = await timesIn(stage, "trash/");
    expect(trashed.get("trash/a.1.md")).toBeGreaterThanOrEqual(before.get("a.md") ?? 0);
    await stage.commit("alice", [restore("trash/a.1.md", "a.md")]);
    expect((await timesIn(stage)).get("a.md")).toBeGreaterThanOrEqual(trashed.get("trash/a.1.md") ?? 0);
    await stage.commit("alice", [remove("b.md")]);
    expect([...(await timesIn(stage)).keys()]).toEqual(["a.md"]);
  });
});

test("no program can set the time back", async () => {
  await using stage = await StoreStage.open("fileStore");
  await stage.commit("alice", [write("a.md", "one")]);
  const before = (await timesIn(stage)).get("a.md");
  const file = join(stage.dataDir, "users/alice/memory/a.md");
  utimesSync(file, 1, 1);
  chmodSync(file, 0o600);
  expect((await timesIn(stage)).get("a.md")).toBeGreaterThanOrEqual(before ?? Infinity);
});
