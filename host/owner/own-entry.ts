/** The types for entries as their owner sees them. */
import type { OriginClass } from "../../shared/origin.ts";
import type { VersionKind } from "../store/versions/version.ts";
import type { TextOrigin } from "./file-version.ts";
import type { LeftFile } from "./undo-plan.ts";

/** A file, and where its present content comes from. */
export interface FileFacts extends TextOrigin {
  readonly scope: string;
  /** Inside the scope. */
  readonly path: string;
  /** SHA-256 of the content, in hex. */
  readonly sha256: string;
  /** How it came about, as in a `FileVersion`. */
  readonly kind?: VersionKind | undefined;
  /** When it was written; `null` if somebody has changed it by hand since. */
  readonly at: Date | null;
}

export interface ListedEntry {
  /** The name of its plugin. */
  readonly family: string;
  readonly name: string;
  /** What it is about, in one line. */
  readonly description: string;
  /** Its file; `null` if its plugin does not say, or keeps several entries in it: nobody knows which of them a change was about. */
  readonly file: FileFacts | null;
  /** The file that it is in with others: who has changed that last, and how far all of it is trusted; else `null`. */
  readonly sharedFile: FileFacts | null;
  /** A line of its text around the words that were looked for. */
  readonly snippet?: string | undefined;
}

export interface OwnEntries {
  readonly entries: readonly ListedEntry[];
  /** Families that could not list their entries, or cannot look for words in them, and why. */
  readonly left: readonly LeftFile[];
}

export interface ShownEntry {
  /** The entry's name, or the path of a file that is none, with its scope. */
  readonly name: string;
  readonly file: FileFacts;
  /** Whether its plugin makes it from other files, such as an index. */
  readonly isDerived: boolean;
  /** The whole text of its file; `null` if it is not UTF-8. */
  readonly text: string | null;
}

/** Which file `edit`, `trash` and `vouch` are about. */
export interface EntryChoice {
  /** The scope of the file, if files of several scopes have the name. Default: all scopes. */
  readonly scope?: string | undefined;
  /**
   * Refuses with `VERSION_CONFLICT` unless the file has this content: the SHA-256 in hex, or at least its first 16 digits.
   * Default: whatever it has.
   */
  readonly ifSha256?: string | undefined;
}

/** What `edit`, `trash` and `vouch` have done. */
export interface ChangedEntry {
  readonly name: string;
  readonly scope: string;
  readonly path: string;
  /** SHA-256 of the content that it has now, or had when it went to the trash. */
  readonly sha256: string;
}

export interface TrashedFile {
  /** The scope whose trash it is in, such as `memory` or `journal`. */
  readonly scope: string;
  /** The name to restore it by: its path below `trash/`. */
  readonly name: string;
  /** Where it was, inside its scope. */
  readonly path: string;
  /** When it was trashed, in milliseconds since 1970-01-01 UTC. Of a file put there by hand: its last change. */
  readonly epochMs: number;
  readonly bytes: number;
}

/** A run of an agent, or a source of texts, that has changed the memory or would like to. */
export interface ChangeSource {
  /** What the program has called it: `ctx.origin.run` or `ctx.origin.source`. */
  readonly kind: "run" | "source";
  readonly name: string;
  /** How many change sets. */
  readonly changes: number;
  /** How many files, without those that plugins make from others. */
  readonly files: number;
  /** When it has first and last changed something, or asked to. */
  readonly firstAt: Date;
  readonly lastAt: Date;
  /** The lowest trust of what it has written. */
  readonly trust: OriginClass;
  /** How many of its writes wait for the owner. */
  readonly waiting: number;
}
