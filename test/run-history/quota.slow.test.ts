/** What a folder that is full of files says: what to delete. A folder that is full of bytes: `test/conformance/full-runs`. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { folderAt, note, useHistory } from "./stage.ts";

const newUser = useHistory();
/** Files of all runs. */
const filesMax = 8_000;

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
