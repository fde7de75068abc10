/**
 * A file or folder that the host may not open, as after a copy by another user: it is named, and costs only itself. An
 * erasure removes everything else, and the rest when it is permitted.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { skipWithReason } from "../support/skip-with-reason.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const denied = "the disk does not permit it";
const gone = { closed: [], left: [], users: [], read: "ENTRY_NOT_FOUND", mended: 0 };
const stays = { users: ["left"], read: "ENTRY_NOT_FOUND", mended: 1 };
const unsafe = (path: string) => ({ ...gone, found: [`not-a-plain-file ${path}`], exported: "STORAGE_UNSAFE" });

/** By the name of a file or folder, and its permissions. */
const cases: Readonly<Record<string, object>> = {
  "memory/a.md 000": { ...gone, found: ["not-a-plain-file memory/a.md"], exported: { files: 2, leftOut: ["a.md"] } },
  "memory/MEMORY.md 000": {
    ...gone,
    found: ["not-a-plain-file memory/MEMORY.md", "index-unsafe memory/MEMORY.md"],
    exported: { files: 2, leftOut: ["MEMORY.md"] },
  },
  // An empty folder is removed without being opened.
  "memory/trash 000": {
    ...gone,
    found: ["not-a-plain-file memory/trash"],
    exported: { files: 3, leftOut: ["trash"] },
    closed: [`users/alice/memory/trash: ${denied}`],
  },
  "memory/sub 000": {
    ...stays,
    found: ["not-a-plain-file memory/sub", "not-inspected memory"],
    exported: { files: 2, leftOut: ["sub"] },
    closed: [`users/alice/memory/sub: ${denied}`],
    left: [`memory/sub: ${denied}`],
  },
  "memory/sub 500": {
    ...stays,
    found: [],
    exported: { files: 3, leftOut: [] },
    closed: [],
    left: [`memory/sub/secret.md: ${denied}`],
  },
  "memory 000": {
    ...stays,
    found: ["not-a-plain-file memory", "not-inspected memory"],
    exported: "STORAGE_FAILED",
    closed: [`users/alice/memory: ${denied}`],
    left: [`memory: ${denied}`],
  },
  ".memcell/journal 000": unsafe(".memcell/journal"),
  ".memcell/lock 000": unsafe(".memcell/lock"),
  ".memcell/owner 000": gone,
  ".memcell 000": { ...stays, closed: [`users/alice/.memcell: ${denied}`], left: [`.memcell: ${denied}`] },
  // Whose folder it is cannot be said.
  " 000": { closed: "STORAGE_FAILED", left: "STORAGE_FAILED", users: ["alice"], read: "STORAGE_FAILED", mended: 0 },
};

test("what the host may not open is named, and keeps nothing else from its owner", (context) => {
  if (process.platform !== "linux") skipWithReason(context, "setpriv is a command of Linux");
  using folder = temporaryFolder();
  const script = fileURLToPath(new URL("../../dist/test/upkeep/forbidden-process.js", import.meta.url));
  const node = [process.execPath, script, folder.path, ...Object.keys(cases)];
  // Root without the right to pass over permissions.
  const asOthers = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"];
  const [command = "", ...args] = [...(process.getuid?.() === 0 ? asOthers : []), ...node];
  const { stdout, stderr } = spawnSync(command, args, { encoding: "utf8" });
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toMatchObject(cases);
});
