import type { PresentOrigins } from "../../versions/present-origins.ts";
import { isSameTail } from "../commit/find-records.ts";
import type { WalTail } from "../commit/find-records.ts";
import type { KnownHistory } from "./known-history.ts";

/** How many homes' histories are kept, and of how many files: 0.3 KB for a file, and up to 0.3 MB of a home's contents. */
const [homesMax, filesMax] = [128, 200_000];

/** What reads need of a history. */
export type ReadHistory = Pick<KnownHistory, "origins" | "isBroken" | "unknown">;

/** The histories of homes between calls. Another process that commits changes the WAL, and then one is read again. */
export class KeptHistories<Id> {
  readonly #kept = new KeptStates<Id, KnownHistory>();
  readonly #read = new KeptStates<Id, ReadHistory>();

  ofHome(id: Id): KeptHistory<Id> {
    return new KeptHistory(id, this.#kept, this.#read);
  }

  forget(id: Id): void {
    this.#kept.forget(id);
    this.#read.forget(id);
  }
}

class KeptStates<Id, Known extends ReadHistory> {
  readonly #kept = new Map<Id, { readonly tail: WalTail; readonly known: Known; readonly files: number }>();
  #files = 0;

  last(id: Id): Known | null {
    return this.#kept.get(id)?.known ?? null;
  }

  of(id: Id, tail: WalTail): Known | null {
    const kept = this.#kept.get(id);
    return kept !== undefined && isSameTail(kept.tail, tail) ? kept.known : null;
  }

  keep(id: Id, tail: WalTail, known: Known): void {
    this.forget(id);
    const files = known.origins.size;
    this.#kept.set(id, { tail, known, files });
    this.#files += files;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= homesMax && this.#files <= filesMax) break;
      this.forget(oldest);
    }
  }

  forget(id: Id): void {
    this.#files -= this.#kept.get(id)?.files ?? 0;
    this.#kept.delete(id);
  }
}

/** One home's history between calls, as of some state of its WAL. */
export class KeptHistory<Id = unknown> {
  readonly #id: Id;
  readonly #kept: KeptStates<Id, KnownHistory>;
  readonly #read: KeptStates<Id, ReadHistory>;

  constructor(id: Id, kept: KeptStates<Id, KnownHistory>, read: KeptStates<Id, ReadHistory>) {
    this.#id = id;
    this.#kept = kept;
    this.#read = read;
  }

  /** What the history said when it was last seen; `null` if that is not known. */
  get last(): PresentOrigins | null {
    return this.#kept.last(this.#id)?.origins ?? null;
  }

  of(tail: WalTail): KnownHistory | null {
    return this.#kept.of(this.#id, tail);
  }

  keep(tail: WalTail, known: KnownHistory): void {
    this.#read.forget(this.#id);
    this.#kept.keep(this.#id, tail, known);
  }

  /** As `of`, also one that was only read. */
  readOf(tail: WalTail): ReadHistory | null {
    return this.of(tail) ?? this.#read.of(this.#id, tail);
  }

  /** For reads alone: under the lock, a history is checked besides. */
  keepRead(tail: WalTail, known: ReadHistory): void {
    this.#read.keep(this.#id, tail, known);
  }
}
