/** What threads that run guests read homes by: synchronous, because a guest waits for the answer, and never writing. */
import type { ListedFile } from "../../shared/abi.ts";
import { storeLimits } from "../../shared/limits.ts";
import type { Seen } from "../values/change-set.ts";
import type { UserId } from "../values/ids.ts";
import { atOnce } from "../values/turns.ts";
import type { Files, Found, KnownSizes, ScopeSize } from "./reading.ts";
import { SeenFiles, decodeText } from "./reading.ts";

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
  /** With what the medium shows, if it shows anything by which a change is seen. */
  readStamped?(scope: string, path: string): Stamped | null;
}

export interface Stamped {
  readonly content: Uint8Array;
  readonly stamp: { readonly text: string } | null;
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
