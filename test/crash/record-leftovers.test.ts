/** What a process leaves that was killed while it changed one of the host's records. `model/` kills at each effect. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { temporaryFolder } from "../support/temporary-folder.ts";
import { userFolder } from "../support/user-files.ts";
import { alice, openStore } from "./small-disk-store.ts";

const hold = (writes: boolean): { writes: boolean; until: number } => ({ writes, until: performance.now() + 10_000 });
const leftovers = ["staged-record", "staged-mark"];

test("the doctor tells it, and the next call removes it, also of a process that knows the log", async () => {
  using folder = temporaryFolder();
  const store = openStore(folder.path);
  await store.hold(alice, hold(true), (held) =>
    held.commit([{ kind: "write", scope: "memory", path: "a.md", content: "a" }], []),
  );
  await store.holdRecords(alice, hold(true), (records) => records.write("pending", "w-1", "{}"));
  const own = join(userFolder(folder.path, alice), ".memcell");
  expect(leftovers.filter((name) => existsSync(join(own, name)))).toEqual([]);
  // The session is kept for some milliseconds, and has the lock as long.
  await new Promise((resolve) => {
    setTimeout(resolve, 100);
  });
  for (const name of leftovers) writeFileSync(join(own, name), "Of a page that nobody has approved.");
  const looking = { ...hold(false), isLookingOnly: true };
  const findings = await store.hold(alice, looking, (held) => held.findings());
  expect(findings.map(({ code, path }) => `${code} ${path}`).toSorted()).toEqual([
    "temporary-file .memcell/staged-mark",
    "temporary-file .memcell/staged-record",
  ]);
  expect(await store.holdRecords(alice, hold(false), (records) => records.names("pending"))).toEqual(["w-1"]);
  expect(leftovers.filter((name) => existsSync(join(own, name)))).toEqual([]);
  await store.close();
});
