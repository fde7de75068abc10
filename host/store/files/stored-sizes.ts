/**
 * The sizes of a home's trashes between processes, beside the WAL: to measure a trash is to look at each of its files.
 * They count only as long as the WAL is as it was, so a crash or another process never leaves wrong ones.
 */
import { storeLimits } from "../../../shared/limits.ts";
import { scopeName } from "../../../shared/path.ts";
import { createOverLeftover } from "../../disk/create-over-leftover.ts";
import type { Directory } from "../../disk/directory.ts";
import type { FileSum, KnownSizes, ScopeSize } from "../scope-size.ts";
import type { WalTail } from "./commit/find-records.ts";
import { isSameTail } from "./commit/find-records.ts";
import type { FileHome } from "./home.ts";

const name = "sizes";
const staged = "sizes-staged";
/** A smaller trash is measured as fast as its size is read. */
const filesMin = 500;
/** A user has some ten scopes, at 60 bytes each. */
const bytesMax = 16 * 1024;

/** What is known of the sizes; nothing if anything about the file is unusual. */
export function readSizes(own: Directory, tail: WalTail): KnownSizes {
  try {
    if ((own.sizeOf(name, name) ?? Infinity) > bytesMax) return {};
    const { wal, trash } = JSON.parse(own.read(name, name)?.toString() ?? "{}") as Record<string, unknown>;
    return wal === keyOf(tail) && isRecord(trash) ? sizesIn(trash) : {};
  } catch {
    return {};
  }
}

/** Not flushed, and no failure matters: the sizes are measured again. */
export function writeSizes(own: Directory, tail: WalTail, sizes: KnownSizes): void {
  const large = Object.entries(sizes).filter(([, { trash }]) => trash !== undefined && trash.files >= filesMin);
  if (large.length === 0) return;
  const trash = Object.fromEntries(large.map(([scope, size]) => [scope, size.trash]));
  try {
    createOverLeftover(own, staged, { content: Buffer.from(JSON.stringify({ wal: keyOf(tail), trash })), shown: name });
    own.rename(staged, own, name);
  } catch {
    // For example, the disk is full.
  }
}

const keyOf = ({ identity, checkpoint, next, end }: WalTail): string =>
  [identity, checkpoint.salt, next, end].join(" ");

function sizesIn(trash: Readonly<Record<string, unknown>>): KnownSizes {
  const known = Object.entries(trash).flatMap(([scope, sum]) =>
    scopeName.test(scope) && isSum(sum) ? [[scope, { trash: { files: sum.files, bytes: sum.bytes } }] as const] : [],
  );
  return Object.fromEntries(known);
}

const isSum = (value: unknown): value is FileSum =>
  isRecord(value) && [value["files"], value["bytes"]].every((each) => Number.isSafeInteger(each) && Number(each) >= 0);

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** How long a live size is used. A file that a person has made larger by hand is noticed after this at the latest. */
const ageMsMax = 60_000;
const homesMax = 1_024;

interface Kept {
  readonly tail: WalTail;
  readonly sizes: KnownSizes;
  readonly measuredAt: number;
}

/**
 * The sizes of homes' scopes between calls. To measure a scope is to look at each of its files, which an append to a
 * long run must not do. Another process that commits changes the WAL, and then the scope is measured again; so is what
 * is outside the trash, when the scope is more than half full.
 *
 * The size of a trash does not age: the trash can have many more files. Before a call is refused because of it, it is
 * measured again, so it does no harm if a person has emptied the trash by hand.
 */
export class KeptSizes {
  readonly #kept = new Map<string, Kept>();

  /** `tail`: the WAL as it is now; `null` if that is not sure. Returns `null` if nothing is kept. */
  of({ key }: FileHome, tail: WalTail | null): KnownSizes | null {
    const kept = this.#kept.get(key);
    if (kept === undefined || tail === null || !isSameTail(kept.tail, tail)) return null;
    return performance.now() - kept.measuredAt > ageMsMax ? mapSizes(kept.sizes, trashOnly) : kept.sizes;
  }

  /** Notes the sizes after a commit. `known`: those that the commit's call was given. */
  keep({ key }: FileHome, tail: WalTail | null, { sizes, known }: { sizes: KnownSizes; known: KnownSizes }): void {
    const kept = this.#kept.get(key);
    this.#kept.delete(key);
    if (tail === null || Object.keys(sizes).length === 0) return;
    const next = mapSizes(sizes, (size) => (isFull(size) ? trashOnly(size) : size));
    // If one of them was known, all are as old as that one.
    const isOld = kept !== undefined && Object.keys(next).some((scope) => next[scope]?.live && known[scope]?.live);
    this.#kept.set(key, { tail, sizes: next, measuredAt: isOld ? kept.measuredAt : performance.now() });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > homesMax && oldest !== undefined) this.#kept.delete(oldest);
  }

  /** The process has retired the WAL, which changes no file. */
  follow({ key }: FileHome, before: WalTail | null, after: WalTail | null): void {
    const kept = this.#kept.get(key);
    if (kept === undefined || before === null || after === null || !isSameTail(kept.tail, before)) return;
    this.#kept.set(key, { ...kept, tail: after });
  }

  forget({ key }: FileHome): void {
    this.#kept.delete(key);
  }
}

const mapSizes = (sizes: KnownSizes, change: (size: Partial<ScopeSize>) => Partial<ScopeSize>): KnownSizes =>
  Object.fromEntries(Object.entries(sizes).map(([scope, size]) => [scope, change(size)]));

const trashOnly = ({ trash }: Partial<ScopeSize>): Partial<ScopeSize> => (trash ? { trash } : {});

const isFull = ({ live, trash }: Partial<ScopeSize>): boolean =>
  (live?.bytes ?? 0) + (trash?.bytes ?? 0) > storeLimits.scopeBytesMax / 2;
