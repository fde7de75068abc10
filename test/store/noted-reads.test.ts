/** A reader lists what it has read: for calls that change something, and for labels. */
import { expect, test } from "vitest";

import { openFileReaders } from "../stage/store.ts";
import type { UserId } from "../stage/store.ts";
import { StoreStage, write } from "./store-stage.ts";

const alice = "alice" as UserId;

test("it lists with stamps what a commit needs, without them what only labels need, or nothing, and reads the same", async () => {
  await using stage = await StoreStage.open("fileStore");
  await stage.commit(alice, [write("a.md", "one")]);
  const readers = openFileReaders({ kind: "files", dir: stage.dataDir, mounts: [] });
  for (const notesSeen of [true, "contents", false] as const) {
    using reader = readers.openUser(alice, ["memory"], { notesSeen });
    expect(["a.md", "b.md"].map((path) => reader.read("memory", path))).toEqual(["one", null]);
    expect(reader.seen).toHaveLength(notesSeen === false ? 0 : 2);
    expect(reader.seen[0]?.stamp === undefined).toBe(notesSeen !== true);
  }
});
