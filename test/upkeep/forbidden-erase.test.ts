/** What the host may not open or change is named. It keeps nothing else from being erased, and goes when it is permitted. */
import { expect, test } from "vitest";

import { outcomesOf } from "./without-permission.ts";

const denied = "the disk does not permit it";
const gone = { closed: [], outcome: [], users: [], found: "ENTRY_NOT_FOUND", mended: 0 };
const left = { users: ["left"], found: "ENTRY_NOT_FOUND", mended: 1 };

/** By the name of a file or folder, and its permissions. */
const cases: Readonly<Record<string, object>> = {
  "memory/a.md 000": gone,
  ".memcell/journal 000": gone,
  ".memcell/lock 000": gone,
  ".memcell/owner 000": gone,
  "memory/sub 000": {
    ...left,
    closed: [`users/alice/memory/sub: ${denied}`],
    outcome: [`memory/sub: ${denied}`],
  },
  "memory/sub 500": { ...left, closed: [], outcome: [`memory/sub/secret.md: ${denied}`] },
  ".memcell 000": { ...left, closed: [`users/alice/.memcell: ${denied}`], outcome: [`.memcell: ${denied}`] },
  // Whose folder it is cannot be said.
  " 000": { closed: "STORAGE_FAILED", outcome: "STORAGE_FAILED", users: ["alice"], found: "STORAGE_FAILED", mended: 0 },
};

test("forbidden files are erased, forbidden folders are named and stay out of reach", (context) => {
  expect(outcomesOf("forbidden-erase-process", Object.keys(cases), context)).toEqual(cases);
});
