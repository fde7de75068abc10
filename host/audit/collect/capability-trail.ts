/**
 * The trail of a call: its worker thread writes down each use of a capability before the guest gets the answer. The
 * trail is in shared memory, so the main thread can read it even if the worker thread is killed (`read-trail.ts`).
 *
 * Only the worker thread appends. It moves a region's end after the entry is complete, so a thread that is killed
 * leaves no partial entry. After the main thread has closed the trail, the guest gets no more answers: the worker
 * thread first appends and then checks whether the trail is closed; the main thread first closes it and then reads.
 * Both are sequentially consistent, so the main thread reads every use that found the trail open.
 */
import type { CapabilityName } from "../../../shared/abi.ts";
import type { ErrorCode } from "../../../shared/errors.ts";
import { auditLimits, trailLimits } from "../../../shared/limits.ts";
import { aligned, entryHeadBytes, noFile, regions, words } from "./trail-memory.ts";
import type { Trail } from "./trail-memory.ts";

/** The scope and path in a request; `null` if it has none. */
export interface Named {
  readonly scope: string | null;
  readonly path: string | null;
}

export class CapabilityTrail {
  readonly #trail: Trail;
  /** Where each entry begins, by its text (kind of use, scope and path). */
  readonly #entries = new Map<string, number>();
  #looksCount = 0;
  #refusalsCount = 0;

  /** An open and empty trail. */
  constructor(trail: Trail) {
    this.#trail = trail;
  }

  /** Whether the call has ended. Every later request is denied and does nothing. */
  get isClosed(): boolean {
    return Atomics.load(this.#trail.words, words.closed) !== 0;
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
    // A later write to the same path then gets its own entry and does not update the one before.
    this.#entries.delete(`w\n${scope}\n${path}`);
    this.#change(`t\n${scope}\n${path}\n${moved.trashed}`, moved.bytes);
  }

  /** Adds a use that was denied or failed. `named` is not called when there is no room. */
  refuse(capability: CapabilityName, code: ErrorCode, named: () => Named): void {
    Atomics.add(this.#trail.words, code === "CAPABILITY_DENIED" ? words.denied : words.failed, 1);
    if (this.#refusalsCount++ >= trailLimits.refusalsMax) return;
    const { scope, path } = named();
    this.#append("refusals", asciiJson([capability, code, scope, path]), 0);
  }

  #look(text: string, bytes: number): void {
    if (this.#isKnown(text, bytes)) return;
    const hasRoom = this.#looksCount < auditLimits.recordUsesMax && this.#add(text, bytes);
    if (hasRoom) this.#looksCount++;
    else Atomics.add(this.#trail.words, words.looksNotShown, 1);
  }

  #change(text: string, bytes: number): void {
    if (this.#isKnown(text, bytes) || this.#add(text, bytes)) return;
    Atomics.add(this.#trail.words, words.changesNotShown, 1);
  }

  /** Whether there is an entry with this text. If so, updates its bytes to the file's present size. */
  #isKnown(text: string, bytes: number): boolean {
    const at = this.#entries.get(text);
    if (at !== undefined) Atomics.store(this.#trail.words, at / 4 + 1, bytes);
    return at !== undefined;
  }

  /** The text is ASCII: the grant and the path grammar allow nothing else in a use that succeeded. */
  #add(text: string, bytes: number): boolean {
    const at = this.#append("uses", text, bytes);
    if (at !== null) this.#entries.set(text, at);
    return at !== null;
  }

  /** Returns where the entry begins, or `null` when there is no room for it. */
  #append(name: keyof typeof regions, text: string, bytes: number): number | null {
    const { start, end, endWord } = regions[name];
    const { words: all, bytes: memory } = this.#trail;
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

/** JSON with everything beyond printable ASCII escaped, so that one character is one byte. */
const asciiJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
