import { expect, test } from "vitest";

import { RunTrust } from "../../host/gate/runs.ts";
import type { OriginClass } from "../../shared/origin.ts";
import { memoryStore, openStore } from "../stage/open-store.ts";
import { ToolError } from "../stage/store.ts";
import type { HostRecords, UserId } from "../stage/store.ts";

const run = { userId: "alice" as UserId, run: "r" };

test("what a run has read while the disk was full is on record as soon as another read can write it", async () => {
  const store = openStore(memoryStore());
  const trust = new RunTrust(Date.now);
  const withRecords = <Result>(work: (records: HostRecords) => Promise<Result>): Promise<Result> =>
    store.holdRecords(run.userId, { writes: true, until: performance.now() + 1_000 }, work);
  /** As a call does that has read entries. */
  const lower = (to: OriginClass, isFull: boolean): Promise<void> =>
    trust.note(run, to, { isNeeded: true }, () =>
      withRecords((records) =>
        trust.commitWith(records, run, to, async () => {
          if (isFull) throw new ToolError("STORAGE_FULL", "Cannot write: the disk is full");
          await records.commit();
        }),
      ),
    );
  await lower("untrusted_document", true);
  // The second text is more trusted than the first, which must not be forgotten.
  await lower("tool_external", false);
  expect(await withRecords((records) => new RunTrust(Date.now).of(records, run))).toBe("untrusted_document");
});
