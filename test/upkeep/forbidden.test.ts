/** A file or folder that the host may not open, as after a copy by another user: it is named, and costs only itself. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const script = fileURLToPath(new URL("../../dist/test/upkeep/forbidden-process.js", import.meta.url));

/** Root without the right to pass over permissions. */
const asOthers = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"];

const cases: Readonly<Record<string, { readonly found: readonly string[]; readonly exported: unknown }>> = {
  "memory/a.md": { found: ["not-a-plain-file memory/a.md"], exported: { files: 1, leftOut: ["a.md"] } },
  "memory/MEMORY.md": {
    found: ["not-a-plain-file memory/MEMORY.md", "index-unsafe memory/MEMORY.md"],
    exported: { files: 1, leftOut: ["MEMORY.md"] },
  },
  "memory/sub": {
    found: ["not-a-plain-file memory/sub", "not-inspected memory"],
    exported: { files: 2, leftOut: ["sub"] },
  },
  "memory/trash": { found: ["not-a-plain-file memory/trash"], exported: { files: 2, leftOut: ["trash"] } },
  memory: { found: ["not-a-plain-file memory", "not-inspected memory"], exported: "STORAGE_FAILED" },
  ".memcell/journal": { found: ["not-a-plain-file .memcell/journal"], exported: "STORAGE_UNSAFE" },
  ".memcell/lock": { found: ["not-a-plain-file .memcell/lock"], exported: "STORAGE_UNSAFE" },
};

test("what the host may not open is named, and keeps nothing else from being inspected and exported", (context) => {
  if (process.platform !== "linux") skipWithReason(context, "setpriv is a command of Linux");
  using folder = temporaryFolder();
  const [command = "", ...args] = [
    ...(process.getuid?.() === 0 ? asOthers : []),
    process.execPath,
    script,
    folder.path,
    ...Object.keys(cases),
  ];
  const { stdout, stderr } = spawnSync(command, args, { encoding: "utf8" });
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toEqual(cases);
});
