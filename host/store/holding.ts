/** What every hold has: its reads and its findings. */
import type { ListedFile } from "../../shared/abi.ts";
import type { Seen } from "../values/change-set.ts";
import type { ScopeSize } from "./scope-size.ts";

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

/** The host's own reads of a user that it holds. Its methods work as those of `UserReader`. */
export interface HeldReader {
  scopes(): Promise<string[]>;
  /** What lies beside the scopes and is none, without the store's own files. */
  beside(): Promise<UnfitFile[]>;
  list(scope: string, prefix: string): Promise<ListedFile[]>;
  /** The files in the trash, also those that `list` leaves out, with the time of each one's last change. */
  listTrash(scope: string): Promise<ListedFile[]>;
  survey(scope: string): Promise<ScopeSurvey>;
  scopeSize(scope: string): Promise<ScopeSize>;
  bytesOf(scope: string, path: string): Promise<Uint8Array | null>;
  /** What `bytesOf` has read so far. */
  readonly seen: readonly Seen[];
}

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
