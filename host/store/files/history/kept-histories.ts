import type { VersionHead } from "../../versions/version.ts";
import { isSameTail } from "../commit/find-records.ts";
import type { WalTail } from "../commit/find-records.ts";
import type { KnownHistory } from "./known-history.ts";

/** How many homes' histories are kept, and of how many files: 0.3 KB for a file, and up to 0.3 MB of a home's contents. */
const [homesMax, filesMax] = [128, 200_000];

/** One home's history between calls, as of some state of its WAL. */
export interface KeptHistory {
  of(tail: WalTail): KnownHistory | null;
  keep(tail: WalTail, known: KnownHistory): void;
  /** Where the history ended when it was last seen; `null` if that is not known. */
  readonly lastHead: VersionHead | null;
}

interface KeptState {
  readonly tail: WalTail;
  readonly known: KnownHistory;
}

/** The histories of homes between calls. Another process that commits changes the WAL, and then one is read again. */
export class KeptHistories<Id> {
  readonly #kept = new Map<Id, KeptState>();

  ofHome(id: Id): KeptHistory {
    const present = (): KeptState | undefined => this.#kept.get(id);
    return {
      get lastHead() {
        return present()?.known.origins.head ?? null;
      },
      of: (tail) => {
        const kept = present();
        return kept !== undefined && isSameTail(kept.tail, tail) ? kept.known : null;
      },
      keep: (tail, known) => {
        this.#kept.delete(id);
        this.#kept.set(id, { tail, known });
        let files = 0;
        for (const each of this.#kept.values()) files += each.known.origins.size;
        for (const [oldest, each] of this.#kept) {
          if (this.#kept.size <= homesMax && files <= filesMax) break;
          files -= each.known.origins.size;
          this.#kept.delete(oldest);
        }
      },
    };
  }

  forget(id: Id): void {
    this.#kept.delete(id);
  }
}
