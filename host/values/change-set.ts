import type { OriginClass } from "../../shared/origin.ts";
import { isTrashPath } from "../../shared/path.ts";

/** A change that a call wants to make. Plain data: the worker thread sends it to the main thread to commit. */
export type Change =
  | {
      readonly kind: "write";
      readonly scope: string;
      readonly path: string;
      /** Guests write only text. The host can also write bytes that are not text. */
      readonly content: string | Uint8Array;
      /** How far its text is trusted at most. Only the host says so, of what comes from outside the store. */
      readonly trust?: OriginClass | undefined;
    }
  /** A move to a path below `trash/` that was free when the call looked. */
  | { readonly kind: "trash"; readonly scope: string; readonly path: string; readonly trashed: string }
  /** A move from a path below `trash/` to one that was free when the host looked. Never by a tool. */
  | { readonly kind: "restore"; readonly scope: string; readonly path: string; readonly restored: string }
  /** A permanent removal. Never by a tool: only the owner of the data empties the trash. */
  | { readonly kind: "remove"; readonly scope: string; readonly path: string };

/** The changes of one call, in the order in which they apply. */
export type ChangeSet = readonly Change[];

/** A change with the size of the file that is written, moved or removed, in bytes. */
export type SizedChange = Change & { readonly bytes: number };

/** Whether a change set does nothing but remove files from the trash for good. */
export const isPurge = (changes: ChangeSet): boolean =>
  changes.every(({ kind, path }) => kind === "remove" && isTrashPath(path));

/** The path that a change moves its file to; `null` if it moves none. */
export function movedTo(change: Change): string | null {
  if (change.kind === "trash") return change.trashed;
  return change.kind === "restore" ? change.restored : null;
}

/** Where a file is, or can be. */
export interface Place {
  readonly scope: string;
  readonly path: string;
}

/** A file's place as a key. Unambiguous, because no scope and no path has a colon. */
export const placeKey = ({ scope, path }: Place): string => `${scope}:${path}`;

/** The scope and the path of a key. */
export function placeOfKey(key: string): Place {
  const colon = key.indexOf(":");
  return { scope: key.slice(0, colon), path: key.slice(colon + 1) };
}

/** A file that a call has read, and the SHA-256 of its content, or `null` if there was no file. */
export interface Seen extends Place {
  readonly digest: string | null;
  /**
   * What the medium showed before it was read: as long as it shows the same, so is the content. Absent if that is not
   * sure.
   */
  readonly stamp?: string;
}
