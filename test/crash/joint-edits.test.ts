/**
 * A person edits a file while a change of several stores is being committed. The person's text is never lost: before the
 * commit the call runs again, after it the text is in the trash or in its place.
 */
import { expect, test } from "vitest";

import { put } from "./homes/step.ts";
import type { StoreOperation } from "./homes/step.ts";
import { storeSubject } from "./homes/stores.ts";
import { takeStep } from "./homes/subject.ts";
import { memoryFolder } from "./homes/tree.ts";
import type { Files } from "./homes/tree.ts";
import { presentTree } from "./model/crash-states.ts";
import { ModelledDisk } from "./model/modelled-disk.ts";
import { Recording } from "./model/recording.ts";
import { FileStore, host } from "./store-under-test.ts";

/** The flushes of WALs in a change of the stores a and b, in order. */
const moments = [
  { during: "the flush of the part", flush: 1, runs: 2 },
  { during: "the flush of the leader", flush: 2, runs: 1 },
  { during: "the flush of the mark", flush: 3, runs: 1 },
] as const;

const edited = "Mine.\n";

/** Holds the stores a, b and c, and makes one change that was begun before. Returns the files and how often it ran. */
async function commitWhile(
  operation: StoreOperation,
  flush: number,
  edit: { readonly key: string; readonly text: string | null },
): Promise<{ files: Files; runs: number; notes: string[] }> {
  using folder = memoryFolder();
  const recording = new Recording(host, folder.path, new ModelledDisk());
  const notes: string[] = [];
  const note = (_owner: string, text: string): void => void notes.push(text);
  const store = new FileStore(recording, { durability: "full", note }, "boot");
  const place = { host, store, path: folder.path };
  for (const name of ["one", "two"]) await takeStep(storeSubject, place, put("ab", name, name));
  let flushes = 0;
  recording.meanwhile = async (name) => {
    if (name !== "journal" || ++flushes !== flush) return;
    recording.saveByHand(storeSubject.placeOf(edit.key), edit.text);
  };
  let runs = 0;
  const until = performance.now() + 10_000;
  await storeSubject.hold(store, { writes: true, until }, async (commit) => {
    runs++;
    using reader = storeSubject.openReader(store);
    const changes = storeSubject.changesFor(reader, operation, 7);
    await commit(changes, reader.seen);
  });
  recording.meanwhile = null;
  await store.close();
  const later = new FileStore(recording, { durability: "full", note }, "a later start");
  await takeStep(storeSubject, { ...place, store: later }, { do: "look" });
  await later.close();
  return { files: storeSubject.filesIn(presentTree(recording.disk)), runs, notes };
}

const trashed = (files: Files): string[] =>
  Array.from(files).flatMap(([key, text]) => (key.includes("/trash/") ? [text] : []));

test.each(moments)("an edit of either store's file during $during", async ({ flush, runs }) => {
  for (const store of ["a", "b"]) {
    const operation = { do: "put", in: "ab", name: "one", body: "tool" } as const;
    const done = await commitWhile(operation, flush, { key: `${store}/one.md`, text: edited });
    expect(done.runs).toBe(runs);
    const isLast = flush === 3;
    expect(done.files.get(`${store}/one.md`)).toBe(isLast ? edited : "tool\n");
    expect(done.files.get(`${store === "a" ? "b" : "a"}/one.md`)).toBe("tool\n");
    // A call that runs again has read the edit, and replaces it knowingly.
    expect(trashed(done.files)).toEqual(flush === 2 ? [edited] : []);
    expect(done.notes.some((text) => text.includes("was edited meanwhile"))).toBe(flush === 2);
  }
});

test.each(moments)("an index that a person rewrites during $during", async ({ flush }) => {
  const operation = { do: "put", in: "ab", name: "three", body: "tool" } as const;
  const { files } = await commitWhile(operation, flush, { key: "b/index.md", text: edited });
  const everywhere = [...files.values()].filter((text) => text.includes(edited));
  expect(everywhere).toHaveLength(1);
  // The second run adds its line to the person's text.
  if (flush === 1) expect(files.get("b/index.md")).toBe(`${edited}put three 7\n`);
});

test.each(moments)("a file that is moved to the other store and edited during $during", async ({ flush }) => {
  const operation = { do: "move", from: "b", to: "a", name: "two", keeps: true } as const;
  const { files } = await commitWhile(operation, flush, { key: "b/two.md", text: edited });
  expect([...files.values()]).toContain(edited);
  if (flush === 1) expect(files.get("a/two.md")).toBe(edited);
  if (flush > 1) expect(files.get("a/two.md")).toBe("two\n");
  expect(trashed(files)).toContain(flush === 1 ? edited : "two\n");
});

test.each(moments)("a new file in the place of another new one during $during", async ({ flush }) => {
  const operation = { do: "put", in: "ab", name: "three", body: "tool" } as const;
  const { files } = await commitWhile(operation, flush, { key: "b/three.md", text: edited });
  expect(files.get("a/three.md")).toBe("tool\n");
  if (flush < 3) expect(files.get("b/three.md")).toBe("tool\n");
  if (flush > 1) expect([...files.values()]).toContain(edited);
});

test.each(moments)("a file that a person removes during $during", async ({ flush }) => {
  const operation = { do: "put", in: "ab", name: "one", body: "tool" } as const;
  const { files } = await commitWhile(operation, flush, { key: "b/one.md", text: null });
  expect(files.get("a/one.md")).toBe("tool\n");
  if (flush < 3) expect(files.get("b/one.md")).toBe("tool\n");
});

test.each(moments)("grants that a person edits during $during", async ({ flush, runs }) => {
  const operation = { do: "grant", of: "b", in: "a", text: "granted by a tool" } as const;
  const done = await commitWhile(operation, flush, { key: "b-grants/grants.json", text: edited });
  expect(done.runs).toBe(runs);
  expect(done.files.get("b-grants/grants.json")).toBe(flush === 3 ? edited : "granted by a tool");
  expect(trashed(done.files)).toEqual(flush === 2 ? [edited] : []);
});
