/** A file or folder that the host may not open, as after a copy by another user: it is named, and costs only itself. */
import { expect, test } from "vitest";

import { outcomesOf } from "./without-permission.ts";

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
  expect(outcomesOf("forbidden-process", Object.keys(cases), context)).toEqual(cases);
});
