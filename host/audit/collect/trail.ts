/**
 * The trail of a call: its worker thread writes down each use of a capability before the guest gets the answer. The
 * trail is in shared memory, so the main thread can read it even if the worker thread is killed.
 *
 * Only the worker thread appends. It moves a region's end after the entry is complete, so a thread that is killed
 * leaves no partial entry. After the main thread has closed the trail, the guest gets no more answers: the worker
 * thread first appends and then checks whether the trail is closed; the main thread first closes it and then reads.
 * Both are sequentially consistent, so the main thread reads every use that found the trail open.
 *
 * Its layout: words of four bytes, the thread's start time, the region of successful uses, the region of refused ones.
 */
import type { CapabilityName } from "../../../shared/abi.ts";
import type { ErrorCode } from "../../../shared/errors.ts";
import { auditLimits, trailLimits } from "../../../shared/limits.ts";
import type { CallEntry, UseEntry } from "../audit-record.ts";

/** The indexes of the words at the beginning. */
export const words = {
  /** 1 once the call has ended. */
  closed: 0,
  /** How many bytes of each region are written. */
  usesEnd: 1,
  refusalsEnd: 2,
  /** How many successful uses had no room: reads and lists here, changes below. */
  looksNotShown: 3,
  changesNotShown: 4,
  denied: 5,
  failed: 6,
} as const;

/** When the thread began the task, in nanoseconds of the clock that all threads share; 0 before. */
const beganAt = 32;
const headerBytes = 40;
const refusalsAt = headerBytes + trailLimits.usesBytes;
const trailBytes = refusalsAt + trailLimits.refusalsMax * trailLimits.refusalBytes;

/** Where each region begins and ends. */
const regions = {
  uses: { start: headerBytes, end: refusalsAt, endWord: words.usesEnd },
  refusals: { start: refusalsAt, end: trailBytes, endWord: words.refusalsEnd },
} as const;

/** Each entry begins with two words: the bytes of its text, and the bytes of the file. */
const entryHeadBytes = 8;

/** Rounds up to a multiple of a word's size, because each entry begins with a word. */
const aligned = (bytes: number): number => (bytes + 3) & ~3;

/** The second word of an entry when the file does not exist. */
const noFile = -1;

/** A trail. A thread has one, and both sides of it make their views once. */
export interface Trail {
  readonly memory: SharedArrayBuffer;
  readonly words: Int32Array;
  readonly bytes: Buffer;
  readonly began: BigInt64Array;
}

export const viewsOf = (memory: SharedArrayBuffer): Trail => ({
  memory,
  words: new Int32Array(memory),
  bytes: Buffer.from(memory),
  began: new BigInt64Array(memory, beganAt, 1),
});

/** A trail of its own memory, open and empty. */
export const newTrail = (): Trail => viewsOf(new SharedArrayBuffer(trailBytes));

/** Called by the worker thread when it begins the task. The main thread reads the time without a message. */
export function stampStart({ began }: Trail): void {
  Atomics.store(began, 0, process.hrtime.bigint());
}

/** How long the task has been running, in milliseconds; `null` before it runs. */
export function runningMs({ began }: Trail): number | null {
  const beganNs = Atomics.load(began, 0);
  return beganNs === 0n ? null : Number(process.hrtime.bigint() - beganNs) / 1e6;
}

/** After this the guest gets no more answers. */
export function closeTrail({ words: all }: Trail): void {
  Atomics.store(all, words.closed, 1);
}

/** Resets the trail for another call, while its thread has none. Bytes after the regions' ends are never read. */
export function clearTrail({ words: all }: Trail): void {
  all.fill(0, 0, headerBytes / 4);
}

/** The scope and path in a request; `null` if it has none. */
export type Named = Pick<UseEntry, "scope" | "path">;

/** Writes a trail, in the worker thread. */
export class CapabilityTrail {
  readonly #trail: Trail;
  /** Where each entry begins, by its text (kind of use, scope and path). */
  readonly #entries = new Map<string, number>();
  #looksCount = 0;
  #refusalsCount = 0;

  /** `trail` is open and empty. */
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
    const before = this.#entries.size;
    const hasRoom = this.#looksCount < auditLimits.recordUsesMax;
    if (!this.#note(text, bytes, hasRoom)) Atomics.add(this.#trail.words, words.looksNotShown, 1);
    this.#looksCount += this.#entries.size - before;
  }

  #change(text: string, bytes: number): void {
    if (!this.#note(text, bytes, true)) Atomics.add(this.#trail.words, words.changesNotShown, 1);
  }

  /**
   * Adds an entry, or updates the bytes of the one with this text to the file's present size. `false` when there is no room.
   * The text is ASCII: the grant and the path grammar allow nothing else in a use that succeeded.
   */
  #note(text: string, bytes: number, mayAdd: boolean): boolean {
    const known = this.#entries.get(text);
    if (known !== undefined) Atomics.store(this.#trail.words, known / 4 + 1, bytes);
    const at = known ?? (mayAdd ? this.#append("uses", text, bytes) : null);
    if (at !== null) this.#entries.set(text, at);
    return at !== null;
  }

  /** Returns where the entry begins, or `null` when there is no room for it. */
  #append(name: keyof typeof regions, text: string, bytes: number): number | null {
    const { start, end, endWord } = regions[name];
    const { words: all, bytes: memory } = this.#trail;
    const at = start + Atomics.load(all, endWord);
    const next = aligned(at + entryHeadBytes + text.length);
    if (next > end) return null;
    all[at / 4] = text.length;
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

export type Refusal = Pick<UseEntry, "capability" | "code" | "scope" | "path">;

/**
 * The uses of all guests of a call, in the main thread. There are several when a person edited the files meanwhile: the call
 * then ran again. Reads of every guest count, but only the changes of the last one can be committed.
 */
export class TotalUses {
  readonly reads = new Map<string, CallEntry["reads"][number]>();
  readonly lists = new Map<string, CallEntry["lists"][number]>();
  writes: CallEntry["writes"] = [];
  trashed: CallEntry["trashed"] = [];
  changesNotShown = 0;
  /** All uses without room, except staged changes. */
  notShown = 0;
  denied = 0;
  failed = 0;

  /** Adds a closed trail, whose thread can have been killed. Returns the denied and failed uses that it had room for. */
  add(trail: Trail): Refusal[] {
    const word = (index: number): number => Atomics.load(trail.words, index);
    const refusals = Array.from(entriesOf(trail, "refusals"), ([text]) => refusalOf(text));
    this.writes = [];
    this.trashed = [];
    this.changesNotShown = word(words.changesNotShown);
    this.denied += word(words.denied);
    this.failed += word(words.failed);
    this.notShown += word(words.looksNotShown) + word(words.denied) + word(words.failed) - refusals.length;
    for (const [text, bytes] of entriesOf(trail, "uses")) {
      const [letter, scope = "", path = "", trashed = ""] = text.split("\n");
      if (letter === "r") this.#keep(this.reads, text, { scope, path, bytes: bytes === noFile ? null : bytes });
      if (letter === "l") this.#keep(this.lists, text, { scope, prefix: path, files: bytes });
      if (letter === "w") this.writes.push({ scope, path, bytes });
      if (letter === "t") this.trashed.push({ scope, path, bytes, trashed });
    }
    return refusals;
  }

  #keep<Use>(kept: Map<string, Use>, key: string, use: Use): void {
    if (kept.has(key) || kept.size < auditLimits.recordUsesMax) kept.set(key, use);
    else this.notShown++;
  }
}

function* entriesOf(
  { words: all, bytes }: Trail,
  name: keyof typeof regions,
): Generator<[text: string, bytes: number]> {
  const { start, endWord } = regions[name];
  const end = start + Atomics.load(all, endWord);
  for (let at = start; at < end;) {
    const textAt = at + entryHeadBytes;
    const textEnd = textAt + Atomics.load(all, at / 4);
    yield [bytes.toString("latin1", textAt, textEnd), Atomics.load(all, at / 4 + 1)];
    at = aligned(textEnd);
  }
}

function refusalOf(text: string): Refusal {
  const [capability, code, scope, path] = JSON.parse(text) as [CapabilityName, ErrorCode, string | null, string | null];
  return { capability, code, scope, path };
}
