/**
 * A rename into another store is interrupted between its two changes: a person edits the entry, or the disk fails. The entry is
 * then in both stores, and the answer says so. Again, the rename ends; but not if the entry is another one by now.
 */
import { afterAll, expect, test } from "vitest";

import { closeRuntimes, gateSubject, runtimeOf } from "./homes/gate.ts";
import { stepOf } from "./homes/step.ts";
import type { GateOperation } from "./homes/step.ts";
import { settings } from "./homes/switched-runtime.ts";
import { memoryFolder } from "./homes/tree.ts";
import { presentTree } from "./model/crash-states.ts";
import { ModelledDisk } from "./model/modelled-disk.ts";
import { Recording } from "./model/recording.ts";
import { openFiles, host } from "./store-under-test.ts";

afterAll(closeRuntimes);

const edited = "Mine.\n";
const edit = (recording: Recording): void => recording.saveByHand(gateSubject.placeOf("store/note.md"), edited);

/** The log of the other store is flushed first, then that of the own one. */
const interruptions = [
  { what: "a person edits it while the first change is flushed", at: 1, interrupt: edit, code: "BUSY", left: edited },
  { what: "a person edits it while the second one is flushed", at: 2, interrupt: edit, code: "BUSY", left: edited },
  {
    what: "the flush of the second change fails",
    at: 0,
    interrupt: (recording: Recording) => recording.failFlush("segment", 1),
    code: "STORAGE_FAILED",
    left: "About it.",
  },
];

test.each(interruptions)("$what", async ({ at, interrupt, code, left }) => {
  using folder = memoryFolder();
  const recording = new Recording(host, folder.path, new ModelledDisk());
  const store = openFiles(recording, { durability: "full", note: () => {}, settings }, "boot");
  const place = { host, store, path: folder.path };
  const runtime = await runtimeOf(host);
  const take = (words: string): Promise<void> => runtime.perform(place, stepOf(words) as GateOperation);
  await take("write note About it.");
  let flushes = 0;
  if (at === 0) interrupt(recording);
  recording.meanwhile = (name) => {
    if (name === "segment" && ++flushes === at) interrupt(recording);
  };
  const message = expect.stringMatching(
    / as a whole: its changes of some stores are made, and those of the others are not/,
  );
  await expect(take("rename note")).rejects.toMatchObject({ code, message });
  recording.meanwhile = null;
  /** In the chat's store, where it lies with its creator's, and in the own one. */
  const found = (): (string | undefined)[] => {
    const files = Array.from(gateSubject.filesIn(presentTree(recording.disk)));
    const inChat = files.find(([key]) => key.startsWith("chat/") && key.endsWith("/note.md"));
    return [inChat?.[1], files.find(([key]) => key === "store/note.md")?.[1]];
  };
  expect(found()).toEqual([expect.stringContaining("About it."), expect.stringContaining(left)]);
  if (left !== edited) await take("rename note");
  else await expect(take("rename note")).rejects.toMatchObject({ code: "NAME_CONFLICT" });
  await store.close();
  expect(found()).toEqual([expect.stringContaining("About it."), left === edited ? edited : undefined]);
});
