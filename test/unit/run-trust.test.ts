import { expect, test } from "vitest";

import { RunTrust } from "../../host/gate/run-trust.ts";
import { MemoryUsers } from "../../host/store/memory/memory-users.ts";
import { ToolError } from "../stage/store.ts";
import type { HoldOptions, Store, UserId } from "../stage/store.ts";

const alice = "alice" as UserId;
const waiting = (): Pick<HoldOptions, "until"> => ({ until: performance.now() + 1_000 });

test("what a run has read while the disk was full is on record as soon as another read can write it", async () => {
  const disk = { isFull: true };
  const users = new MemoryUsers();
  const store = storeOn(users, disk);
  const trust = new RunTrust(store, Date.now);
  await trust.lower(alice, "r", "untrusted_document", { ...waiting(), isNeeded: true });
  disk.isFull = false;
  // The second text is more trusted than the first, which must not be forgotten.
  await trust.lower(alice, "r", "tool_external", { ...waiting(), isNeeded: true });
  expect(await new RunTrust(store, Date.now).of(alice, "r", waiting())).toBe("untrusted_document");
});

/** A store whose records can be written only as long as its disk is not full. */
function storeOn(users: MemoryUsers, disk: { readonly isFull: boolean }): Store {
  const holdRecords: Store["holdRecords"] = async (userId, options, work) => {
    if (options.writes && disk.isFull) throw new ToolError("STORAGE_FULL", "Cannot write: the disk is full");
    return await users.holdRecords(userId, options, work);
  };
  return Object.assign(Object.create(users) as Store, { holdRecords });
}
