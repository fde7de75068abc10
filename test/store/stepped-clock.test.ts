/** Waits and ages of the store do not depend on the system's clock, which can be set while it runs. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { DiskRoot } from "../../host/disk/data-root.ts";
import { FileStore } from "../../host/store/files/file-store.ts";
import { KeptSizes } from "../../host/store/files/kept-sizes.ts";
import { RetireSchedule } from "../../host/store/files/retire-schedule.ts";
import { sizeOfFiles } from "../stage/store.ts";
import type { UserId } from "../stage/store.ts";
import { steppedClock } from "../support/stepped-clock.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { userFolder } from "../support/user-files.ts";

const alice = "alice" as UserId;
const hourMs = 3_600_000;
const steps = [
  { name: "back", stepMs: -hourMs },
  { name: "forward", stepMs: hourMs },
];

test.for(steps)("after the clock has stepped $name, an idle user is retired", async ({ stepMs }) => {
  const retired = new Promise<string>((resolve) => {
    const retire = async (key: string): Promise<void> => resolve(key);
    const schedule = new RetireSchedule<string>({ retire, retireNow: () => {}, note: () => {} });
    schedule.noteUse("alice");
    using _clock = steppedClock(stepMs);
    schedule.add("bob");
  });
  // The timer of the schedule does not keep the process alive, but the test's own does.
  const alive = setTimeout(() => {}, 60_000);
  expect(await retired).toBe("alice");
  clearTimeout(alive);
});

test.for(steps)("while the clock steps $name, a wait for a lock ends in time", async ({ stepMs }) => {
  using folder = temporaryFolder();
  const open = (): FileStore => new FileStore(new DiskRoot(folder.path), { durability: "relaxed", note: () => {} });
  const [first, second] = [open(), open()];
  const hold = (store: FileStore, waitMs: number, work: () => Promise<void>): Promise<void> =>
    store.hold(alice, { writes: true, until: performance.now() + waitMs }, work);
  await first.hold(alice, { writes: true, until: performance.now() + 9_000 }, (held) =>
    held.commit([{ kind: "write", scope: "memory", path: "a.md", content: "one" }], []),
  );
  await hold(first, 9_000, async () => {
    using _clock = steppedClock(stepMs);
    await expect(hold(second, 20, async () => {})).rejects.toMatchObject({ code: "BUSY" });
  });
  await Promise.all([first.close(), second.close()]);
  const wal = join(userFolder(folder.path, alice), ".memcell", "journal");
  expect(existsSync(wal) && readFileSync(wal).subarray(4096).includes("record ")).toBe(false);
});

test.for(steps)("after the clock has stepped $name, sizes are remembered as long as before", ({ stepMs }) => {
  const sizes = new KeptSizes<string>();
  const memory = sizeOfFiles([{ path: "a.md", bytes: 7 }]);
  const checkpoint = { version: 2, first: 1, salt: "" } as const;
  const tail = { identity: "1:1", checkpoint, slot: 0, next: 2, end: 5_000, last: 4_096, lastBoot: null };
  sizes.keep("alice", tail, { sizes: { memory }, known: {} });
  using _clock = steppedClock(stepMs);
  expect(sizes.of("alice", tail)).toEqual({ memory });
});
