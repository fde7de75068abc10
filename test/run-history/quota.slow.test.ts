/** What a full folder says: what to delete. */
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { newEvent, plannerNoteData } from "memcell/run-history";
import { expect, test } from "vitest";

import { openHistory } from "./open-history.ts";

const note = [newEvent(undefined, plannerNoteData({ note: "x" }))];
const mib = 1024 ** 2;
/** Files of all runs. */
const filesMax = 8_000;

test("an append beyond 64 MiB is QUOTA_EXCEEDED and names the largest runs", async () => {
  await using open = await openHistory();
  // Before the first call: a host counts the bytes of a folder once.
  for (const [run, segments] of [
    ["largest", 20],
    ["large", 12],
  ] as const) {
    const folder = join(open.dataDir, "users/alice/runs/a", run);
    mkdirSync(folder, { recursive: true });
    for (let number = 1; number <= segments; number++) {
      const path = join(folder, `${String(number).padStart(6, "0")}.jsonl`);
      writeFileSync(path, "");
      truncateSync(path, 2 * mib);
    }
  }
  await expect(open.history.append("a", "small", note)).rejects.toMatchObject({
    code: "QUOTA_EXCEEDED",
    message: expect.stringMatching(
      /\. Delete runs and purge the trash; the largest are "a\/largest" \(\d+ bytes\), "a\/large" \(\d+ bytes\)/,
    ) as string,
  });
  expect((await open.history.load("a", "small")).events).toEqual([]);
});

test("no run begins beyond the limit of files, but others go on", async () => {
  await using open = await openHistory();
  await open.history.append("a", "old", note);
  const folder = join(open.dataDir, "users/alice/runs/a/files");
  mkdirSync(folder, { recursive: true });
  for (let number = 1; number <= filesMax - 2; number++) {
    writeFileSync(join(folder, `${String(number).padStart(6, "0")}.jsonl`), "\n");
  }
  await expect(open.history.append("a", "new", note)).rejects.toMatchObject({
    code: "QUOTA_EXCEEDED",
    message: expect.stringContaining(`at most ${filesMax} allowed. Delete runs and purge the trash`) as string,
  });
  expect(await open.history.append("a", "old", note)).toBe(1);
});
