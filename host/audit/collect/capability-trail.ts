/**
 * What a call's guest has done, written down by its thread before the guest gets the answer. It lies in shared memory:
 * whatever becomes of the thread, the other side reads it (`read-trail.ts`).
 *
 * Only the thread appends, and it moves a region's end after the entry is whole, so a thread that is killed in between
 * leaves nothing half. Once the other side has closed the trail nothing is answered any more: the thread first appends
 * and then looks whether it is closed, the other side first closes and then reads. Both are sequentially consistent, so
 * a use that found the trail open is among those that are read.
 */
import type { CapabilityName } from "../../../shared/abi.ts";
import type { ErrorCode } from "../../../shared/errors.ts";
import { auditLimits, trailLimits } from "../../../shared/limits.ts";
import { aligned, entryHeadBytes, noFile, regions, viewsOf, words } from "./trail-memory.ts";
import type { TrailViews } from "./trail-memory.ts";

/** What a request named; `null` where it named nothing. */
export interface Named {
  readonly scope: string | null;
  readonly path: string | null;
}

export class CapabilityTrail {
  readonly #views: TrailViews;
  /** Where the entry of a path begins, for each kind of use. */
  readonly #entries = new Map<string, number>();
  #looksCount = 0;
  #refusalsCount = 0;

  /** Zeroed memory of `trailBytes`. */
  constructor(memory: SharedArrayBuffer) {
    this.#views = viewsOf(memory);
  }

  /** Whether the call has ended: what comes now is answered with a denial, and does nothing. */
  get isClosed(): boolean {
    return Atomics.load(this.#views.words, words.closed) !== 0;
  }

  /** `bytes` is `null` when there is no file. */
  read(scope: string, path: string, bytes: number | null): void {
    this.#look(`r\n${scope}\n${path}`, bytes ?? noFile);
  }

  list(scope: string, prefix: string, files: number): void {
    this.#look(`l\n${scope}\n${prefix}`, files);
  }

  write(scope: string, path: string, bytes: number): void {
    this.#change(`w\n${scope}\n${path}`, bytes);
  }

  trash(scope: string, path: string, moved: { readonly trashed: string; readonly bytes: number }): void {
    // A later write of the same path is another one, and does not take the place of the write before.
    this.#entries.delete(`w\n${scope}\n${path}`);
    this.#change(`t\n${scope}\n${path}\n${moved.trashed}`, moved.bytes);
  }

  /** A use that was denied or has failed. `named` is not asked when there is no room. */
  refuse(capability: CapabilityName, code: ErrorCode, named: () => Named): void {
    Atomics.add(this.#views.words, code === "CAPABILITY_DENIED" ? words.denied : words.failed, 1);
    if (this.#refusalsCount++ >= trailLimits.refusalsMax) return;
    const { scope, path } = named();
    this.#append("refusals", asciiJson([capability, code, scope, path]), 0);
  }

  #look(text: string, bytes: number): void {
    if (this.#isKnown(text, bytes)) return;
    const hasRoom = this.#looksCount < auditLimits.recordUsesMax && this.#add(text, bytes);
    if (hasRoom) this.#looksCount++;
    else Atomics.add(this.#views.words, words.looksNotShown, 1);
  }

  #change(text: string, bytes: number): void {
    if (this.#isKnown(text, bytes) || this.#add(text, bytes)) return;
    Atomics.add(this.#views.words, words.changesNotShown, 1);
  }

  /** A path that is there already only takes the bytes that its file has now. */
  #isKnown(text: string, bytes: number): boolean {
    const at = this.#entries.get(text);
    if (at !== undefined) Atomics.store(this.#views.words, at / 4 + 1, bytes);
    return at !== undefined;
  }

  /** Paths that went well hold ASCII only: the grant and the grammar let nothing else pass. */
  #add(text: string, bytes: number): boolean {
    const at = this.#append("uses", text, bytes);
    if (at !== null) this.#entries.set(text, at);
    return at !== null;
  }

  /** Where the entry begins, or `null` when there is no room for it. */
  #append(name: keyof typeof regions, text: string, bytes: number): number | null {
    const { start, end, endWord } = regions[name];
    const { words: all, bytes: memory } = this.#views;
    const at = start + Atomics.load(all, endWord);
    const textBytes = text.length;
    const next = aligned(at + entryHeadBytes + textBytes);
    if (next > end) return null;
    all[at / 4] = textBytes;
    all[at / 4 + 1] = bytes;
    memory.write(text, at + entryHeadBytes, "latin1");
    Atomics.store(all, endWord, next - start);
    return at;
  }
}

/** Everything beyond ASCII as an escape, so that a character is a byte. */
const asciiJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
