import type { OriginClass } from "../../shared/origin.ts";
import type { VersionKind } from "../store/versions/version.ts";

/** Where a text comes from. */
export interface TextOrigin {
  /** What the program said of the call (`ctx.origin`); `owner_edit` for edits by hand and the owner's operations. */
  readonly class: OriginClass;
  /** How far it is trusted: the lowest of the class, of what the model was exposed to, and of the file's trust before. */
  readonly trust: OriginClass;
  readonly run: string | null;
  readonly source: string | null;
}

/** One version of one file, as its history has it. */
export interface FileVersion extends TextOrigin {
  /** The number of the change set, in the history of the user's folder, a mounted folder, or the own store. */
  readonly seq: number;
  readonly at: Date;
  readonly scope: string;
  /** Inside the scope: `editor.md`, `trash/…`. */
  readonly path: string;
  /** The name of the entry whose file it is; `null` if no loaded plugin says it. */
  readonly entry: string | null;
  /** Whether its plugin makes it from other files, such as an index. */
  readonly isDerived: boolean;
  /** SHA-256 of the content, in hex; `null` if the file was removed or moved away. */
  readonly sha256: string | null;
  /** SHA-256 of the content before; `null` if there was no file. */
  readonly before: string | null;
  /** Where the content was moved from. */
  readonly from?: string | undefined;
  /**
   * How it came about, if not by a call or operation that wrote it: `edited` by hand, `put back` by hand to an earlier
   * state, `imported`, `approved` by the owner, as it was or `corrected`, `purged` from the trash, `restored` from an earlier version, or `undone`,
   * as it was before changes that the owner has taken back.
   */
  readonly kind?: VersionKind | undefined;
  /** The tool, or the operation of the data's owner; `null` for an edit by hand, as are the next two. */
  readonly tool: string | null;
  readonly plugin: string | null;
  /** The user whose call it was. */
  readonly principal: string | null;
  readonly turn: string | null;
  /** The same as in the audit log. */
  readonly callId: string | null;
}

export interface HistoryOptions {
  /** Only the file of the entry with this name, or with this path. Default: all. */
  readonly name?: string | undefined;
  /** Only this scope. Default: all. */
  readonly scope?: string | undefined;
  /** Only the file with this path. Default: all. */
  readonly path?: string | undefined;
}

/** What `restoreVersion` has done. */
export interface RestoredVersion {
  readonly scope: string;
  readonly path: string;
  /** The version whose content was put back. */
  readonly seq: number;
  /** `created`: there was no file. `unchanged`: the file had this content. */
  readonly outcome: "created" | "replaced" | "unchanged";
}

export interface DiffOptions {
  /** A version's number; `before`: what the file was before the version `to`. */
  readonly from: number | "before";
  /** A version's number. Default: the present content. */
  readonly to?: number | undefined;
  /** The file's scope, if files of several scopes have the name. */
  readonly scope?: string | undefined;
}

/** The difference of two versions of a file. */
export interface FileDiff {
  readonly scope: string;
  readonly path: string;
  /** SHA-256 of both contents, in hex; `null` if there is no file. */
  readonly before: string | null;
  readonly after: string | null;
  /**
   * The hunks of a unified diff, line by line, without the lines that name files: each hunk begins with `@@`, its other
   * lines with a space, `-`, `+` or `\`. Empty if both are the same; `null` if one of them is not UTF-8 text, or if they
   * differ too much to be compared in half a second.
   */
  readonly lines: readonly string[] | null;
}
