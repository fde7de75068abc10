import { storeLimits } from "../../../shared/limits.ts";
import type { KnownSizes, ScopeSize } from "../scope-size.ts";
import { isSameTail } from "./commit/find-records.ts";
import type { WalTail } from "./commit/find-records.ts";

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
export class KeptSizes<Id> {
  readonly #kept = new Map<Id, Kept>();

  /** `tail`: the WAL as it is now; `null` if that is not sure. Returns `null` if nothing is kept. */
  of(id: Id, tail: WalTail | null): KnownSizes | null {
    const kept = this.#kept.get(id);
    if (kept === undefined || tail === null || !isSameTail(kept.tail, tail)) return null;
    return performance.now() - kept.measuredAt > ageMsMax ? mapSizes(kept.sizes, trashOnly) : kept.sizes;
  }

  /** Notes the sizes after a commit. `known`: those that the commit's call was given. */
  keep(id: Id, tail: WalTail | null, { sizes, known }: { sizes: KnownSizes; known: KnownSizes }): void {
    const kept = this.#kept.get(id);
    this.#kept.delete(id);
    if (tail === null || Object.keys(sizes).length === 0) return;
    const next = mapSizes(sizes, (size) => (isFull(size) ? trashOnly(size) : size));
    // If one of them was known, all are as old as that one.
    const isOld = kept !== undefined && Object.keys(next).some((scope) => next[scope]?.live && known[scope]?.live);
    this.#kept.set(id, { tail, sizes: next, measuredAt: isOld ? kept.measuredAt : performance.now() });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > homesMax && oldest !== undefined) this.#kept.delete(oldest);
  }

  /** The process has retired the WAL, which changes no file. */
  follow(id: Id, before: WalTail | null, after: WalTail | null): void {
    const kept = this.#kept.get(id);
    if (kept === undefined || before === null || after === null || !isSameTail(kept.tail, before)) return;
    this.#kept.set(id, { ...kept, tail: after });
  }

  forget(id: Id): void {
    this.#kept.delete(id);
  }
}

const mapSizes = (sizes: KnownSizes, change: (size: Partial<ScopeSize>) => Partial<ScopeSize>): KnownSizes =>
  Object.fromEntries(Object.entries(sizes).map(([scope, size]) => [scope, change(size)]));

const trashOnly = ({ trash }: Partial<ScopeSize>): Partial<ScopeSize> => (trash ? { trash } : {});

const isFull = ({ live, trash }: Partial<ScopeSize>): boolean =>
  (live?.bytes ?? 0) + (trash?.bytes ?? 0) > storeLimits.scopeBytesMax / 2;
