/**
 * Everything about a folder that an attack could change: names, types, bytes, inodes, link counts, times, permissions.
 */
import { createHash } from "node:crypto";
import { lstatSync, readFileSync, readlinkSync } from "node:fs";
import type { BigIntStats } from "node:fs";
import { join } from "node:path";

import { namesBelow } from "./names-below.ts";

/** A description of each path below a folder, with the folder itself as `.`. Compare two with `toEqual`. */
export type TreeFingerprint = Readonly<Record<string, string>>;

/** Leaves out access times, because reading is not a change. Follows no links and opens no pipes. */
export function treeFingerprint(folder: string): TreeFingerprint {
  const names = namesBelow(folder).toSorted();
  return Object.fromEntries([".", ...names].map((name) => [name, fingerprintOf(join(folder, name))]));
}

function fingerprintOf(path: string): string {
  const facts = lstatSync(path, { bigint: true });
  const { ino, nlink, mtimeNs, mode, size } = facts;
  return [`inode ${ino}`, `links ${nlink}`, `modified ${mtimeNs}`, `mode ${mode.toString(8)}`, `size ${size}`]
    .concat(contentOf(path, facts))
    .join(", ");
}

/** Larger files, sparse ones in tests, are compared by size only. */
const hashedBytesMax = 2n ** 24n;

function contentOf(path: string, facts: BigIntStats): string[] {
  if (facts.isSymbolicLink()) return [`to ${readlinkSync(path)}`];
  if (!facts.isFile() || facts.size > hashedBytesMax) return [];
  return [createHash("sha256").update(readFileSync(path)).digest("hex")];
}
