/** What a process knows of a home between two calls. Another process that commits adds to the journal, and then it counts no more. */
import type { Directory } from "../../disk/directory.ts";
import { placeKey } from "../../values/change-set.ts";
import type { Place } from "../../values/change-set.ts";
import type { UserId } from "../../values/ids.ts";
import type { KnownSizes } from "../reading.ts";
import type { PresentOrigins } from "../versions/present-origins.ts";
import { hostFolder } from "./home.ts";
import type { FileHome } from "./home.ts";
import type { KnownHistory } from "./journal/history.ts";
import { isSameTail } from "./journal/read-journal.ts";
import type { JournalTail } from "./journal/read-journal.ts";

export class HomeMemo {
  readonly home: FileHome;
  /** The journal as this process has left it; `null` if it has to be read. */
  tail: JournalTail | null = null;
  /** How often the journal was another one than what was remembered. */
  generation = 0;
  /** The identity of the host's own folder, once it is known to record its owner. */
  ownedIdentity: string | null = null;
  /** Who was last looked at as a store's creator. */
  seenCreator: UserId | null = null;
  /** Whether disks fold case, as `ScopeFolders` has found out: by folder, then by scope. */
  readonly #folds = new Map<string, Map<string, boolean>>();
  /** The files that frames name which are not settled, each with the number of the last of these. */
  readonly touched = new Map<string, Place & { readonly seq: number }>();
  /** The last frame of which nobody needs all texts once it is settled; 0 if there is none. */
  lastPassing = 0;
  /** The flush of a frame has failed: a segment has to begin before anything else is written. */
  isBroken = false;
  /** If frames are to be settled: since when nobody has committed, on the clock of `performance.now()`. */
  idleSinceMs: number | null = null;
  /** The sizes of the scopes, for as long as nobody has committed. */
  sizes: { readonly tail: JournalTail; readonly known: KnownSizes; readonly measuredAt: number } | null = null;
  #history: { readonly tail: JournalTail; readonly known: KnownHistory; readonly isChecked: boolean } | null = null;
  /** What the history said when it was last checked; `null` if that is not known. */
  lastOrigins: PresentOrigins | null = null;

  constructor(home: FileHome) {
    this.home = home;
  }

  foldsOf({ identity }: Directory): Map<string, boolean> {
    const folds = this.#folds.get(identity) ?? new Map<string, boolean>();
    this.#folds.set(identity, folds);
    return folds;
  }

  /** `seq`: of the frame that names it. */
  touch({ scope, path }: Place, seq: number): void {
    if (scope === hostFolder) this.lastPassing = Math.max(this.lastPassing, seq);
    this.touched.set(placeKey({ scope, path }), { scope, path, seq });
  }

  /** All frames up to this one are settled. */
  settled(seq: number): void {
    for (const [key, each] of this.touched) if (each.seq <= seq) this.touched.delete(key);
  }

  /** Whether frames are to be settled. */
  get hasFrames(): boolean {
    return this.touched.size > 0 || (this.tail !== null && this.tail.settled < this.tail.next - 1);
  }

  /** The history, if nobody has committed since. One that was only read is not checked. */
  historyAt(tail: JournalTail, isChecked = false): KnownHistory | null {
    const kept = this.#history;
    return kept !== null && isSameTail(kept.tail, tail) && (kept.isChecked || !isChecked) ? kept.known : null;
  }

  /** `isChecked`: it was read under the lock, and compared with what this process knew. */
  keepHistory(tail: JournalTail, known: KnownHistory, isChecked: boolean): void {
    this.#history = { tail, known, isChecked };
    if (isChecked) this.lastOrigins = known.origins;
  }

  /** Of how many files the history is kept. */
  get filesInHistory(): number {
    const [known, last] = [this.#history?.known.origins ?? null, this.lastOrigins];
    return (known?.size ?? 0) + (last === known ? 0 : (last?.size ?? 0));
  }

  forgetHistory(): void {
    this.#history = null;
    this.lastOrigins = null;
  }

  /** The next session looks at the place again. What it remembers of the journal, it compares in any case. */
  forgetPlace(): void {
    this.ownedIdentity = null;
    this.seenCreator = null;
    this.#folds.clear();
  }
}
