import { storeLimits } from "../../../shared/limits.ts";
import type { UsedBytes } from "../store.ts";
import type { WalTail } from "./commit/find-records.ts";

/** How long a sum is used. A file that a person has made larger by hand is noticed after this at the latest. */
const ageMsMax = 60_000;
const homesMax = 1_024;

interface Kept {
  readonly tail: WalTail;
  readonly bytes: UsedBytes;
  readonly measuredAt: number;
}

/**
 * The sizes of homes' scopes between calls. To measure a scope is to look at each of its files, which an append to a
 * long run must not do. Another process that commits changes the WAL, and then the scope is measured again; so it is
 * when it is more than half full.
 */
export class KeptSizes<Id> {
  readonly #kept = new Map<Id, Kept>();

  /** `tail`: the WAL as it is now; `null` if that is not sure. */
  of(id: Id, tail: WalTail | null): UsedBytes {
    const kept = this.#kept.get(id);
    if (kept === undefined || tail === null || !isSame(kept.tail, tail)) return {};
    return performance.now() - kept.measuredAt > ageMsMax ? {} : kept.bytes;
  }

  /** Notes the sizes after a commit. `known`: those that the commit's call was given. */
  keep(id: Id, tail: WalTail | null, { bytes, known }: { bytes: UsedBytes; known: UsedBytes }): void {
    const kept = this.#kept.get(id);
    this.#kept.delete(id);
    const few = Object.entries(bytes).filter(([, used]) => used <= storeLimits.scopeBytesMax / 2);
    if (tail === null || few.length === 0) return;
    // If one of them was known, all are as old as that one.
    const isOld = kept !== undefined && few.some(([scope]) => Object.hasOwn(known, scope));
    this.#kept.set(id, {
      tail,
      bytes: Object.fromEntries(few),
      measuredAt: isOld ? kept.measuredAt : performance.now(),
    });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > homesMax && oldest !== undefined) this.#kept.delete(oldest);
  }

  /** The process has retired the WAL, which changes no file. */
  follow(id: Id, before: WalTail | null, after: WalTail | null): void {
    const kept = this.#kept.get(id);
    if (kept === undefined || before === null || after === null || !isSame(kept.tail, before)) return;
    this.#kept.set(id, { ...kept, tail: after });
  }

  forget(id: Id): void {
    this.#kept.delete(id);
  }
}

function isSame(a: WalTail, b: WalTail): boolean {
  return a.identity === b.identity && a.checkpoint.salt === b.checkpoint.salt && a.next === b.next && a.end === b.end;
}
