/**
 * How a home's files are read: by the host, and by threads that run guests, where a guest waits for the answer and nothing
 * is written. `shared/path.ts` has the grammar of scopes and paths.
 */
import { isUtf8 } from "node:buffer";
import { hash } from "node:crypto";

import type { ListedFile } from "../../shared/abi.ts";
import { storeLimits } from "../../shared/limits.ts";
import { isListed, isScopePath, isTrashPath, scopeName, trashFolder } from "../../shared/path.ts";
import { quoted } from "../../shared/text.ts";
import * as z from "../../shared/zod.ts";
import { placeKey } from "../values/change-set.ts";
import type { Place, Seen } from "../values/change-set.ts";
import { storeOfScope } from "../values/ids.ts";
import type { StoreId, UserId } from "../values/ids.ts";
import { ToolError } from "../values/tool-error.ts";
import { atOnce, inTurns } from "../values/turns.ts";
import type { Pieces } from "../values/turns.ts";

/** The files that a reader has read so far, each as last read. */
export class SeenFiles {
  readonly #seen = new Map<string, Seen>();

  /** `stamp`: what the medium showed before. */
  note(scope: string, path: string, bytes: Uint8Array | null, stamp: string | null = null): void {
    const digest = digestOf(bytes);
    const seen = stamp === null ? { scope, path, digest } : { scope, path, digest, stamp };
    this.#seen.set(placeKey(seen), seen);
  }

  list(): Seen[] {
    return [...this.#seen.values()];
  }
}

/** SHA-256 of a file's content, in hexadecimal; `null` for a missing file. */
export function digestOf(content: Uint8Array | null): string | null {
  return content && hash("sha256", content);
}

export const noSuchScope = (scope: string): ToolError =>
  new ToolError("CAPABILITY_DENIED", `Cannot use scope ${quoted(scope)}: no such scope`);

/** Throws `CAPABILITY_DENIED` if the text is not a scope's name. */
export function checkedScope(scope: string): string {
  if (scopeName.test(scope)) return scope;
  throw noSuchScope(scope);
}

/** Returns the shared store that a scope names. Throws `CAPABILITY_DENIED` if it names none. */
export function checkedStore(scope: string): StoreId {
  const id = storeOfScope(scope);
  if (id !== null) return id;
  throw noSuchScope(scope);
}

/** The folders of a path inside its scope, then the file's name. Throws `CAPABILITY_DENIED` for an invalid path. */
export function segmentsOf(path: string): string[] {
  if (isScopePath(path)) return path.split("/");
  throw new ToolError("CAPABILITY_DENIED", `Cannot use path ${quoted(path)}: it is not a path inside a scope`);
}

/** Decodes UTF-8 without loss, and keeps a byte order mark. Throws `NoUtf8` for other bytes. */
export function decodeText(bytes: Uint8Array, shown: string): string {
  try {
    return utf8.decode(bytes);
  } catch (error) {
    throw new NoUtf8(shown, bytes, error);
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The failure `ENTRY_UNREADABLE` of a file whose bytes are not UTF-8. */
export class NoUtf8 extends ToolError {
  readonly bytes: number;
  readonly #bytes: Uint8Array;

  constructor(shown: string, bytes: Uint8Array, cause: unknown) {
    super("ENTRY_UNREADABLE", `Cannot read ${quoted(shown)}: it is not UTF-8 text`, { cause });
    this.bytes = bytes.byteLength;
    this.#bytes = bytes;
  }

  /** What can be read: each run of other bytes is one U+FFFD. UTF-16 that begins with a byte order mark is decoded. */
  get readable(): string {
    const [first, second] = this.#bytes;
    const isLittle = first === 0xff && second === 0xfe;
    const isBig = first === 0xfe && second === 0xff;
    const form = isLittle ? "utf-16le" : isBig ? "utf-16be" : "utf-8";
    const text = new TextDecoder(form, { ignoreBOM: form === "utf-8" });
    return text.decode(this.#bytes).replaceAll(/\ufffd+/g, "\ufffd");
  }
}

export const byPath = (a: { readonly path: string }, b: { readonly path: string }): number =>
  a.path < b.path ? -1 : 1;

export const tooManyFiles = (): ToolError =>
  new ToolError("QUOTA_EXCEEDED", `Cannot list files: more than ${storeLimits.listEntriesMax} are there`);

/** Those whose path begins with `prefix`. Throws `QUOTA_EXCEEDED` if they are more than `filesMax`. */
export function listedIn(
  all: readonly ListedFile[],
  prefix: string,
  filesMax: number = storeLimits.listEntriesMax,
): ListedFile[] {
  const found = all.filter(({ path, bytes }) => isListed(path, prefix) && refusalOf(bytes) === null);
  if (found.length <= filesMax) return found.toSorted(byPath);
  throw tooManyFiles();
}

export const trashIn = (all: readonly ListedFile[]): ListedFile[] =>
  all.filter(({ path }) => isListed(path, `${trashFolder}/`)).toSorted(byPath);

export function surveyOf(all: readonly ListedFile[]): ScopeSurvey {
  const sorted = all.toSorted(byPath);
  const unfit = sorted.flatMap(({ path, bytes }): UnfitFile[] => {
    const reason = refusalOf(bytes);
    return reason === null ? [] : [{ path, reason }];
  });
  return { files: sorted.filter(({ bytes }) => refusalOf(bytes) === null), unfit };
}

/** Throws `STORAGE_UNSAFE` for a file that is too large to be read. */
export function checkBytes(path: string, bytes: number): void {
  const refusal = refusalOf(bytes);
  if (refusal !== null) throw unsafe(path, refusal);
}

export const unsafe = (path: string, reason: string): ToolError =>
  new ToolError("STORAGE_UNSAFE", `Cannot use ${quoted(path)}: ${reason}`);

export const inFoldersPlace = (): ToolError =>
  new ToolError("STORAGE_UNSAFE", "Cannot open the user's folder: something else is in a folder's place");

export const noFile = "it is not a regular file";

const refusalOf = (bytes: number): string | null =>
  bytes > storeLimits.fileBytesMax ? `it is ${bytes} bytes, at most ${storeLimits.fileBytesMax} allowed` : null;

/** A problem in a user's data, found by the store: something unfinished or out of place. */
export interface StoreFinding {
  /** What is wrong, in words with hyphens. Only the store distinguishes the codes. */
  readonly code: string;
  /** Where, inside the user's data. */
  readonly path: string;
  /** What is wrong, as a clause about "it". */
  readonly message: string;
  /** What a writing call does about it automatically; `null` if only a person can help. */
  readonly remedy: string | null;
  /** How long ago the file was last written, where that matters. */
  readonly ageMs?: number;
}

/** What is answered at once, in pieces, between which whoever reads can give others a turn, or after a while. */
export type Found<Value, Later extends boolean = boolean> =
  | Value
  | Pieces<Value>
  | (Later extends true ? Promise<Value> : never);

/**
 * A home's files, as a medium has them, by the scopes inside the home. Can hold folders open until it is disposed of.
 * `Later`: whether an answer can take a while; a guest's thread needs it at once.
 */
export interface Files<Later extends boolean = boolean> extends Partial<Disposable> {
  scopes(): Found<string[], Later>;
  /** What lies beside the scopes and is none, without the store's own files. Default: nothing. */
  beside?(): Found<UnfitFile[], Later>;
  /** As `UserReader` lists them. Throws `QUOTA_EXCEEDED` if there are more than `filesMax`. */
  list(scope: string, prefix: string, filesMax: number): Found<ListedFile[], Later>;
  /** The files in the trash, also those that `list` leaves out, with the time of each one's last change. */
  listTrash(scope: string): Found<ListedFile[], Later>;
  survey(scope: string): Found<ScopeSurvey, Later>;
  /** Measures what is not known. */
  scopeSize(scope: string, known?: Partial<ScopeSize>): Found<ScopeSize, Later>;
  /** The bytes of the file at a path, or `null` when there is none. */
  sizeOf(scope: string, path: string): Later extends true ? Promise<number | null> | number | null : number | null;
  /** A copy of a file's bytes, which the caller may change; `null` if there is no file. */
  bytesOf(scope: string, path: string): Found<Uint8Array | null, Later>;
}

/** What an engine has found, with turns for others between its pieces. */
export const inTime = <Value extends object | null>(found: Found<Value>): Value | Promise<Value> =>
  found !== null && "next" in found ? inTurns(found) : found;

/** Everything in a scope, trash included, also what a read would refuse. */
export interface ScopeSurvey {
  /** Sorted by path. */
  readonly files: readonly ListedFile[];
  /** What no tool can read, under the names that the medium gives. They can contain any character. */
  readonly unfit: readonly UnfitFile[];
}

export interface UnfitFile {
  /** Inside the scope, or beside the scopes. */
  readonly path: string;
  /** Why, as a clause about "it". */
  readonly reason: string;
}

/** How many files there are, and their bytes together. */
export interface FileSum {
  readonly files: number;
  readonly bytes: number;
}

/** A scope's trash is measured apart: it can hold far more files than the tools work with. */
export interface ScopeSize {
  /** All files outside the trash. */
  readonly live: FileSum;
  readonly trash: FileSum;
}

/** What is known of the sizes of some scopes and need not be measured, by scope. */
export type KnownSizes = Readonly<Record<string, Partial<ScopeSize>>>;

export const noFiles: FileSum = { files: 0, bytes: 0 };

export const sumOf = (a: FileSum, b: FileSum): FileSum => ({ files: a.files + b.files, bytes: a.bytes + b.bytes });

/** Where a file of this path counts. */
export const partOf = (path: string): keyof ScopeSize => (isTrashPath(path) ? "trash" : "live");

export function sizeOfFiles(files: Iterable<{ readonly path: string; readonly bytes: number }>): ScopeSize {
  const size = { live: noFiles, trash: noFiles };
  for (const { path, bytes } of files) size[partOf(path)] = sumOf(size[partOf(path)], { files: 1, bytes });
  return size;
}

export interface GrowingFile extends Place {
  /** By how much the file makes its scope larger. */
  readonly growth: FileSum;
}

/** The sizes of scopes after a plan, as far as they were known before. */
export function sizesAfter(known: KnownSizes, planned: readonly GrowingFile[]): KnownSizes {
  const after = new Map(Object.entries(known));
  for (const { scope, path, growth } of planned) {
    const size = after.get(scope);
    const part = partOf(path);
    const before = size?.[part];
    if (before !== undefined) after.set(scope, { ...size, [part]: sumOf(before, growth) });
  }
  return Object.fromEntries(after);
}

/** Makes readers in a thread that runs guests. */
export interface StoreReaders {
  /**
   * Opens one user's scopes for one call, or the shared stores if there is no user. Creates nothing. `scopes` are those that
   * the call may use, from one home. Of stores, the scopes are `store:<uuid>`: each is opened when it is first read, with its
   * entries alone, and is empty if it is not there. Which stores a call may read is decided outside.
   */
  open(userId: UserId | null, scopes?: readonly string[], known?: KnownOfCall): UserReader;
}

/** What the main thread knows of homes when a call's guest begins. */
export interface KnownOfCall {
  /** Sizes that need not be measured. */
  readonly knownSizes?: KnownSizes | undefined;
  readonly handed?: Handed | null | undefined;
  /**
   * Whether the reader lists what it has read in `seen`. `contents`: without what the medium shows, which only a commit
   * needs, and which takes as long as a small file. Default: yes.
   */
  readonly notesSeen?: boolean | "contents" | undefined;
}

/** The files of one home, or of stores, as a medium gives them to a thread. */
export interface ThreadFiles extends Pick<Files<false>, "list" | "scopeSize" | "sizeOf" | "bytesOf">, Disposable {
  bytesOf(scope: string, path: string): Uint8Array | null;
  /** How much the last list of a whole scope has left out. Absent: a medium that takes nothing else. */
  leftOutOf?(scope: string): number;
  /** With what the medium shows, if it shows anything by which a change is seen. */
  readStamped?(
    scope: string,
    path: string,
  ): { readonly content: Uint8Array; readonly stamp: { readonly text: string } | null } | null;
}

/** Reads for one call's guest, and notes what it has read and measured. Can hold folders open until it is disposed of. */
export class UserReader implements Disposable {
  readonly #files: ThreadFiles;
  readonly #notesSeen: KnownOfCall["notesSeen"];
  readonly #seen = new SeenFiles();
  readonly #sizes: Map<string, Partial<ScopeSize>>;
  /** The scopes whose sizes were measured in this call. */
  readonly #measured = new Set<string>();

  constructor(files: ThreadFiles, { knownSizes = {}, notesSeen = true }: KnownOfCall = {}) {
    this.#files = files;
    this.#sizes = new Map(Object.entries(knownSizes));
    this.#notesSeen = notesSeen;
  }

  /** A file's text, or `null`. Throws `ENTRY_UNREADABLE` if its bytes are not UTF-8. */
  read(scope: string, path: string): string | null {
    const stamped = this.#notesSeen === true ? this.#files.readStamped?.(scope, path) : undefined;
    const content = stamped === undefined ? this.#files.bytesOf(scope, path) : (stamped?.content ?? null);
    if (this.#notesSeen) this.#seen.note(scope, path, content, stamped?.stamp?.text);
    return content && decodeText(content, path);
  }

  /** Files whose path begins with `prefix`, sorted by path; those below `trash/` only when the prefix names it. */
  list(scope: string, prefix: string): ListedFile[] {
    return now(this.#files.list(scope, prefix, storeLimits.listEntriesMax));
  }

  readonly leftOutOf = (scope: string): number => this.#files.leftOutOf?.(scope) ?? 0;

  /** The bytes of the file at a path, or `null` when there is none. */
  sizeOf(scope: string, path: string): number | null {
    return this.#files.sizeOf(scope, path);
  }

  /** `isAnew`: measures the scope even if its size is known, but only once. */
  scopeSize(scope: string, isAnew = false): ScopeSize {
    const known = isAnew && !this.#measured.has(scope) ? {} : (this.#sizes.get(scope) ?? {});
    const size = now(this.#files.scopeSize(scope, known));
    if (!known.live && !known.trash) this.#measured.add(scope);
    this.#sizes.set(scope, size);
    return size;
  }

  /** The sizes that were given or measured. */
  get knownSizes(): KnownSizes {
    return Object.fromEntries(this.#sizes);
  }

  /** The files that `read` has read so far. */
  get seen(): readonly Seen[] {
    return this.#seen.list();
  }

  [Symbol.dispose](): void {
    this.#files[Symbol.dispose]();
  }
}

const now = <Value extends object>(found: Found<Value, false>): Value => ("next" in found ? atOnce(found) : found);

/** What a thread's readers get of a hold, as plain data, so that they need not find it again. */
export type Handed = HandedHome | HandedFiles;

/** A home's folder that the main thread holds open. Threads of the same process can open it. */
export interface HandedHome {
  /** `keyOf` the home: a reader of another one does not open it. */
  readonly key: string;
  readonly folder: { readonly descriptor: number; readonly identity: string };
  /** Whether the disk folds case, by scope, as far as that is known. */
  readonly folds: ReadonlyMap<string, boolean>;
}

/** A hold to which the main thread answers, and what it has found already. */
export interface HandedFiles {
  readonly hold: number;
  readonly files: readonly HandedFile[];
  /** The scopes of which `files` are all files. */
  readonly complete: readonly string[];
}

export interface HandedFile extends ListedFile {
  readonly scope: string;
  /** `null` if it has to be asked for. */
  readonly content: Uint8Array | null;
}

/** Bytes in JSON: as text if they are UTF-8, which people can read, else in base64. */
export const storedBytesSchema = z.union([
  z.strictObject({ text: z.string() }),
  z.strictObject({ base64: z.string() }),
]);

export type StoredBytes = z.infer<typeof storedBytesSchema>;

export const encodeBytes = (bytes: Buffer): StoredBytes =>
  isUtf8(bytes) ? { text: bytes.toString("utf8") } : { base64: bytes.toString("base64") };

/**
 * The same in JSON's bytes. A text is escaped as Latin-1, in which each byte is one character and stays itself: to decode
 * UTF-8 and encode it again takes ten times as long.
 */
export const jsonOfBytes = (bytes: Buffer): Buffer =>
  isUtf8(bytes)
    ? Buffer.from(JSON.stringify({ text: bytes.toString("latin1") }), "latin1")
    : Buffer.from(JSON.stringify({ base64: bytes.toString("base64") }));

export const decodeBytes = (stored: StoredBytes): Buffer =>
  "text" in stored ? Buffer.from(stored.text) : Buffer.from(stored.base64, "base64");

/** `undefined` if the text is no JSON. People and other programs can write to the disk. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
