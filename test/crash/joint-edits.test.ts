/**
 * A person edits a file while a change of several stores is being committed. The person's text is never lost: before the
 * commit the call runs again, after it the text is in the trash or in its place.
 */
import { expect, test } from "vitest";

import { stepOf } from "./homes/step.ts";
import type { StoreOperation } from "./homes/step.ts";
import { storeSubject } from "./homes/stores.ts";
import { takeStep } from "./homes/subject.ts";
import { memoryFolder } from "./homes/tree.ts";
import { presentTree } from "./model/crash-states.ts";
import { ModelledDisk } from "./model/modelled-disk.ts";
import { Recording } from "./model/recording.ts";
import { FileStore, host } from "./store-under-test.ts";

/** The flushes of WALs in a change of the stores a and b, in order. */
const moments = ["the part", "the leader", "the mark"].map((of, at) => ({ of, flush: at + 1 }));
const mine = "Mine.\n";

/** What is changed, and the edited file with its text, before and as the change leaves it. */
const changes = [
  { step: "put ab one tool", key: "a/one.md", made: "tool\n" },
  { step: "put ab one tool", key: "b/one.md", made: "tool\n" },
  { step: "put ab three tool", key: "b/three.md", made: "tool\n" },
  {
    step: "put ab three tool",
    key: "b/index.md",
    made: "put one 1\nput two 1\nput three 7\n",
    again: `${mine}put three 7\n`,
  },
  { step: "move b a two trashed", key: "b/two.md", made: undefined },
  { step: "grant b a tool", key: "b-grants/grants.json", made: "tool" },
];
const rows = changes.flatMap((change) => moments.map((moment) => Object.assign({}, change, moment)));

test.each(rows)("$step, and a person edits $key during the flush of $of", async ({ step, key, made, again, flush }) => {
  using folder = memoryFolder();
  const recording = new Recording(host, folder.path, new ModelledDisk());
  const notes: string[] = [];
  const note = (_owner: string, text: string): void => void notes.push(text);
  const store = new FileStore(recording, { durability: "full", note }, "boot");
  const place = { host, store, path: folder.path };
  for (const name of ["one", "two"]) await takeStep(storeSubject, place, stepOf(`put ab ${name} ${name}`));
  let [flushes, runs] = [0, 0];
  recording.meanwhile = (name) => {
    if (name === "journal" && ++flushes === flush) recording.saveByHand(storeSubject.placeOf(key), mine);
  };
  await storeSubject.hold(store, { writes: true, until: performance.now() + 10_000 }, async (commit) => {
    runs++;
    using reader = storeSubject.openReader(store);
    await commit(storeSubject.changesFor(reader, stepOf(step) as StoreOperation, 7), reader.seen);
  });
  recording.meanwhile = null;
  await store.close();
  const later = new FileStore(recording, { durability: "full", note }, "a later start");
  await takeStep(storeSubject, { ...place, store: later }, { do: "look" });
  await later.close();

  const files = storeSubject.filesIn(presentTree(recording.disk));
  const isMoved = step.startsWith("move");
  const [isBefore, isAfter] = [flush === 1, flush === 3];
  // A new file is no reason to run again: the call has not read it.
  expect(runs).toBe(isBefore ? 2 : 1);
  expect(files.get(key)).toBe(isAfter ? mine : isBefore ? (again ?? made) : made);
  const trashed = Array.from(files).flatMap(([path, text]) => (path.includes("/trash/") ? [text] : []));
  // A call that runs again has read the edit, and replaces it knowingly.
  const kept = isMoved ? [isBefore ? mine : "two\n"] : [];
  expect(trashed.toSorted()).toEqual([...(flush === 2 ? [mine] : []), ...kept]);
  if (isMoved) expect(files.get("a/two.md")).toBe(isBefore ? mine : "two\n");
  if (step === "put ab one tool") expect(files.get(key.startsWith("a") ? "b/one.md" : "a/one.md")).toBe("tool\n");
  expect(notes.some((text) => text.includes("was edited meanwhile"))).toBe(flush === 2);
});
