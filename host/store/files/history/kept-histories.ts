import type { PresentOrigins } from "../../versions/present-origins.ts";
import { isSameTail } from "../commit/find-records.ts";
import type { WalTail } from "../commit/find-records.ts";
import type { FileHome } from "../home.ts";
import type { KnownHistory } from "./load-history.ts";

/** How many homes' histories are kept, and of how many files: 0.3 KB for a file, and up to 0.3 MB of a home's contents. */
const [homesMax, filesMax] = [128, 200_000];

/** What reads need of a history. */
export type ReadHistory = Pick<KnownHistory, "origins" | "isBroken" | "unknown">;

/** The histories of homes between calls. Another process that commits changes the WAL, and then one is read again. */
export class KeptHistories {
  readonly #kept = new KeptStates<KnownHistory>();
  readonly #read = new KeptStates<ReadHistory>();

  /** What the history said when it was last seen; `null` if that is not known. */
  last(home: FileHome): PresentOrigins | null {
    return this.#kept.last(home)?.origins ?? null;
  }

  of(home: FileHome, tail: WalTail): KnownHistory | null {
    return this.#kept.of(home, tail);
  }

  keep(home: FileHome, tail: WalTail, known: KnownHistory): void {
    this.#read.forget(home);
    this.#kept.keep(home, tail, known);
  }

  /** As `of`, also one that was only read. */
  readOf(home: FileHome, tail: WalTail): ReadHistory | null {
    return this.of(home, tail) ?? this.#read.of(home, tail);
  }

  /** For reads alone: under the lock, a history is checked besides. */
  keepRead(home: FileHome, tail: WalTail, known: ReadHistory): void {
    this.#read.keep(home, tail, known);
  }

  forget(home: FileHome): void {
    this.#kept.forget(home);
    this.#read.forget(home);
  }
}

class KeptStates<Known extends ReadHistory> {
  readonly #kept = new Map<string, { readonly tail: WalTail; readonly known: Known; readonly files: number }>();
  #files = 0;

  last({ key }: FileHome): Known | null {
    return this.#kept.get(key)?.known ?? null;
  }

  of({ key }: FileHome, tail: WalTail): Known | null {
    const kept = this.#kept.get(key);
    return kept !== undefined && isSameTail(kept.tail, tail) ? kept.known : null;
  }

  keep({ key }: FileHome, tail: WalTail, known: Known): void {
    this.#forget(key);
    const files = known.origins.size;
    this.#kept.set(key, { tail, known, files });
    this.#files += files;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= homesMax && this.#files <= filesMax) break;
      this.#forget(oldest);
    }
  }

  forget({ key }: FileHome): void {
    this.#forget(key);
  }

  #forget(key: string): void {
    this.#files -= this.#kept.get(key)?.files ?? 0;
    this.#kept.delete(key);
  }
}
