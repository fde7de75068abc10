import type { OriginClass } from "../../shared/origin.ts";

/** One version of one file, as its history has it. */
export interface FileVersion {
  /** The number of the change set, in the history of the user's folder, a mounted folder, or the own store. */
  readonly seq: number;
  readonly at: Date;
  readonly scope: string;
  /** Inside the scope: `editor.md`, `trash/…`. */
  readonly path: string;
  /** SHA-256 of the content, in hex; `null` if the file was removed or moved away. */
  readonly sha256: string | null;
  /** SHA-256 of the content before; `null` if there was no file. */
  readonly before: string | null;
  /** Where the content was moved from. */
  readonly from?: string | undefined;
  /**
   * How it came about, if not by a call or operation that wrote it: `edited` by hand, `put back` by hand to an earlier
   * state, `imported`, `approved` by the owner, or `purged` from the trash.
   */
  readonly kind?: "edited" | "put back" | "imported" | "approved" | "purged" | undefined;
  /** The tool, or the operation of the data's owner; `null` for an edit by hand, as are the next two. */
  readonly tool: string | null;
  readonly plugin: string | null;
  /** The user whose call it was. */
  readonly principal: string | null;
  /** What the program said of the call (`ctx.origin`); `owner_edit` for edits by hand and the owner's operations. */
  readonly class: OriginClass;
  /** The lowest of the class, of what the model was exposed to, and of the file's trust before. */
  readonly trust: OriginClass;
  readonly run: string | null;
  readonly turn: string | null;
  readonly source: string | null;
  /** The same as in the audit log. */
  readonly callId: string | null;
}

export interface HistoryOptions {
  /** Only this scope. Default: all. */
  readonly scope?: string | undefined;
  /** Only the file with this path. Default: all. */
  readonly path?: string | undefined;
}
