/** What a full folder says: what to delete. */
import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { folderAt, note, useHistory } from "./stage.ts";

const newUser = useHistory();
const mib = 1024 ** 2;
/** Files of all runs. */
const filesMax = 8_000;

test("an append beyond 64 MiB is QUOTA_EXCEEDED and names the largest runs", async () => {
  const { history, place } = newUser();
  // Before the first call: a host counts the bytes of a folder once.
  for (const [run, segments] of [
    ["largest", 20],
    ["large", 12],
  ] as const) {
    const folder = folderAt(place(run));
    for (let number = 1; number <= segments; number++) {
      const path = join(folder, `${String(number).padStart(6, "0")}.jsonl`);
      writeFileSync(path, "");
      truncateSync(path, 2 * mib);
    }
  }
  await expect(history.append("agent", "small", [note()])).rejects.toMatchObject({
    code: "QUOTA_EXCEEDED",
    message: expect.stringMatching(
      /\. Delete runs and purge the trash; the largest are "agent\/largest" \(\d+ bytes\), "agent\/large" \(\d+ bytes\)/,
    ) as string,
  });
  expect((await history.load("agent", "small")).events).toEqual([]);
});

test("no run begins beyond the limit of files, but others go on", async () => {
  const { history, place } = newUser();
  await history.append("agent", "old", [note()]);
  const folder = folderAt(place("files"));
  for (let number = 1; number <= filesMax - 2; number++) {
    writeFileSync(join(folder, `${String(number).padStart(6, "0")}.jsonl`), "\n");
  }
  await expect(history.append("agent", "new", [note()])).rejects.toMatchObject({
    code: "QUOTA_EXCEEDED",
    message: expect.stringContaining(`at most ${filesMax} allowed. Delete runs and purge the trash`) as string,
  });
  expect(await history.append("agent", "old", [note()])).toBe(1);
});
