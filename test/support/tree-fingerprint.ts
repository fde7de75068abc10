/** Everything about a folder that an attack could change: names, kinds, bytes, inodes, link counts, times, rights. */
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { BigIntStats } from "node:fs";
import { join } from "node:path";

/** What stands under each path below a folder, the folder itself as `.`; compare two with `toEqual`. */
export type TreeFingerprint = Readonly<Record<string, string>>;

/** Times of last access are left out: reading is not a change. Nothing is followed, and no pipe is opened. */
export function treeFingerprint(folder: string): TreeFingerprint {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted();
  return Object.fromEntries([".", ...names].map((name) => [name, fingerprintOf(join(folder, name))]));
}

function fingerprintOf(path: string): string {
  const facts = lstatSync(path, { bigint: true });
  const { ino, nlink, mtimeNs, mode, size } = facts;
  return [`inode ${ino}`, `links ${nlink}`, `modified ${mtimeNs}`, `mode ${mode.toString(8)}`, `size ${size}`]
    .concat(contentOf(path, facts))
    .join(", ");
}

/** A sparse giant is known by its size. */
const hashedBytesMax = 2n ** 24n;

function contentOf(path: string, facts: BigIntStats): string[] {
  if (facts.isSymbolicLink()) return [`to ${readlinkSync(path)}`];
  if (!facts.isFile() || facts.size > hashedBytesMax) return [];
  return [createHash("sha256").update(readFileSync(path)).digest("hex")];
}
