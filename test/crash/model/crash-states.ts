/** What a modelled disk may show after a crash: chosen at random from those that POSIX allows. */
import type { Tree } from "../homes/tree.ts";
import { ModelledDisk } from "./modelled-disk.ts";
import type { DiskNode, ModelledFolder } from "./modelled-disk.ts";
import { newest } from "./modelled-file.ts";
import type { ModelledFile, Pick } from "./modelled-file.ts";

type Random = () => number;

/** What a crash does to changes that are not durable. */
export interface CrashWay {
  /** Whether a change of a folder's names is kept. */
  readonly keepsNames: (folder: number, index: number, count: number) => boolean;
  readonly content: (file: ModelledFile) => Buffer;
}

/** The tree that the running system shows, and that a killed process leaves behind. */
export function presentTree(disk: ModelledDisk, id = 0): Tree {
  return new Map(
    Array.from(disk.folder(id).present, ([name, node]): [string, Tree | Buffer] => [
      name,
      node.kind === "folder" ? presentTree(disk, node.id) : disk.file(node.id).content,
    ]),
  );
}

/** The disk after a crash and a restart: everything on it is durable. */
export function diskAfter(disk: ModelledDisk, way: CrashWay): ModelledDisk {
  const folders = new Map(Array.from(disk.folders, ([id, folder]) => [id, folderAfter(id, folder, way)]));
  const lostAt = Math.min(...Array.from(folders.values(), (folder) => folder.lostAt));
  // A folder's time reaches the disk no earlier than all names that were changed before, in any folder.
  const changedAt = (id: number): number => {
    const { pending, durableAt } = disk.folder(id);
    return Math.min(pending.findLast(({ count }) => count < lostAt)?.count ?? durableAt, lostAt - 1);
  };
  const after = ModelledDisk.startingAt(disk, changedAt(0));
  const fill = (from: number, to: number): void => {
    for (const [name, node] of folders.get(from)?.names ?? []) {
      const { id } = node;
      if (node.kind === "folder") fill(id, after.addFolder(to, name, { id, changedAt: changedAt(id) }));
      else after.addFile(to, name, { id, content: way.content(disk.file(id)), times: disk.file(id).times });
    }
  };
  fill(0, 0);
  return after;
}

interface FolderAfter {
  readonly names: ReadonlyMap<string, DiskNode>;
  /** When the first name was changed whose change is lost. */
  readonly lostAt: number;
}

/** Asks once about each change: a way can be random. */
function folderAfter(id: number, { durable, pending }: ModelledFolder, way: CrashWay): FolderAfter {
  const names = new Map(durable);
  let lostAt = Infinity;
  for (const [index, { changes, count }] of pending.entries()) {
    if (changes.length === 0) continue;
    if (!way.keepsNames(id, index, count)) {
      lostAt = Math.min(lostAt, count);
      continue;
    }
    for (const { name, node } of changes) {
      if (node) names.set(name, node);
      else names.delete(name);
    }
  }
  return { names, lostAt };
}

const oldest: Pick = () => 0;
const whole = (file: ModelledFile): Buffer => file.content;
const lost = (file: ModelledFile): Buffer => file.after({ sector: oldest, size: oldest });
/** Each file without its last write: a record whose flush has failed is there, and what erased it is not. */
const withoutLast = (file: ModelledFile): Buffer => {
  const { writtenAt } = file.times;
  const sector: Pick = (_place, versions) =>
    Math.max(
      versions.findLastIndex(({ at }) => at < writtenAt),
      0,
    );
  return file.after({ sector, size: newest });
};
const emptied = (file: ModelledFile): Buffer => file.after({ sector: oldest, size: newest });
const firstHalf = (file: ModelledFile): Buffer => half(file, (isFirst) => isFirst);
const lastHalf = (file: ModelledFile): Buffer => half(file, (isFirst) => !isFirst);

function half(file: ModelledFile, isKept: (isFirst: boolean) => boolean): Buffer {
  const sectors = file.openSectors;
  const middle = sectors[Math.floor(sectors.length / 2)] ?? 0;
  const sector: Pick = (at, versions) => (isKept(at < middle) ? newest(at, versions) : 0);
  return file.after({ sector, size: newest });
}

/** The plain ways, which find most bugs. Every point of a recording is tried with each. */
export const plainWays: readonly CrashWay[] = [
  { keepsNames: () => false, content: lost },
  { keepsNames: () => true, content: whole },
  { keepsNames: () => true, content: lost },
  { keepsNames: () => true, content: emptied },
  { keepsNames: () => false, content: whole },
  { keepsNames: () => false, content: withoutLast },
  { keepsNames: (_folder, index) => index % 2 === 0, content: lost },
  { keepsNames: () => true, content: firstHalf },
  { keepsNames: () => true, content: lastHalf },
];

/** A random way. Names: any subset, that of some folders, all up to a moment, most or few. Contents: any mixture. */
export function randomWay(random: Random, effects: number): CrashWay {
  return {
    keepsNames: randomNames(random, effects),
    content: (file) => (file.isDurable ? file.content : tear(file, random)),
  };
}

function randomNames(random: Random, effects: number): CrashWay["keepsNames"] {
  const kind = Math.floor(random() * 5);
  const share = random();
  const moment = effects - Math.floor(random() * 30);
  const salt = Math.floor(random() * 1e9);
  // A change of two folders counts as two changes: a rename between folders may survive in only one of them.
  if (kind === 0) return () => random() < share;
  if (kind === 1) return (folder) => hash(salt, folder) < share;
  if (kind === 2) return (_folder, _index, count) => count < moment;
  const isChosen = (folder: number, index: number): boolean => hash(salt, folder * 1009 + index) < 0.25;
  return kind === 3 ? (folder, index) => !isChosen(folder, index) : isChosen;
}

function hash(salt: number, value: number): number {
  const mixed = Math.imul(salt ^ Math.imul(value + 1, 0x9e3779b1), 0x85ebca6b);
  return ((mixed ^ (mixed >>> 13)) >>> 0) / 2 ** 32;
}

function tear(file: ModelledFile, random: Random): Buffer {
  const any: Pick = (_place, versions) => Math.floor(random() * versions.length);
  const mixed = (): Buffer => file.after({ sector: any, size: random() < 0.7 ? newest : any });
  const kinds = [lost, whole, whole, emptied, firstHalf, lastHalf, mixed];
  return (kinds[Math.floor(random() * kinds.length)] ?? mixed)(file);
}
