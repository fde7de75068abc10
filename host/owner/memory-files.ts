/** A user's files outside the store, as data: what `export` returns and `import` takes. */
import type { ErrorCode } from "../../shared/errors.ts";
import type { ExportedFile, MemoryFile } from "../values/memory-file.ts";
import type { Finding } from "./finding.ts";
import type { LeftFile } from "./undo-plan.ts";

/** Called with how many files of how many are done. If it throws, the operation ends. */
export type OnProgress = (done: number, total: number) => void;

export interface ExportOptions {
  /** The scopes to export. Default: all that the user has. */
  readonly scopes?: readonly string[] | undefined;
  /** Called after each file that was read. Default: not called. */
  readonly onProgress?: OnProgress | undefined;
}

export interface MemoryExport {
  /** The files of all scopes, sorted by scope and path. */
  readonly files: readonly MemoryFile[];
  /**
   * What is there but is not a memory file: links, pipes, giants, strange names, and what lies beside the scopes. A name
   * can contain any character.
   */
  readonly leftOut: readonly LeftOutFile[];
}

/** An export whose contents are read when they are asked for. */
export interface OpenExport {
  /** The files of all scopes, sorted by scope and path. */
  readonly files: readonly ExportedFile[];
  /** As of a `MemoryExport`. While `contents` are read, files are added that were changed meanwhile and are kept nowhere. */
  readonly leftOut: readonly LeftOutFile[];
  /** Reads the files, in their order, some at a time. Nothing is held while the reader does something else. */
  readonly contents: () => AsyncIterable<MemoryFile>;
}

export interface LeftOutFile {
  /** A scope, or the name of something in the user's folder that is no scope. */
  readonly scope: string;
  /** Empty if all of it is left out. */
  readonly path: string;
  /** As a clause about "it". */
  readonly reason: string;
}

export interface ImportOptions {
  /** The scopes to import; files of other scopes are skipped. Default: all scopes of the files. */
  readonly scopes?: readonly string[] | undefined;
  /** Whether an existing file with other content goes to the trash. Default: the import is refused. */
  readonly replace?: boolean | undefined;
}

/** What an import does, or would do. Paths begin with the scope: `memory/editor.md`. */
export interface ImportPlan {
  /** Files that were not there. */
  readonly created: readonly string[];
  /** Files that were there with other content, which goes to the trash. */
  readonly replaced: readonly string[];
  /**
   * Files that are there with the same content, and files that a plugin makes from others, such as an index. They stay;
   * the plugin updates its own.
   */
  readonly skipped: readonly string[];
  /** The names of the files that are added to the trash. If another file has a name already, a free name is used. */
  readonly trashed: readonly string[];
  /** The bytes of the import's own files that are written. */
  readonly bytes: number;
  /** What else is mended, as `mend` does it. */
  readonly mended: readonly Finding[];
  /**
   * What is not imported although the rest is: files under paths that their plugin does not keep, and scopes that no
   * loaded plugin has. If there is nothing else, they are refused.
   */
  readonly leftOut: readonly RefusedFile[];
  /** Why nothing is imported; empty if nothing is refused. At most 100; the rest is counted. */
  readonly refused: readonly RefusedFile[];
  readonly refusedHidden: number;
}

/** Whose texts move in: nobody says, the owner, a document of somebody else, or a web page. */
export type TextWriter = "unknown" | "me" | "document" | "web";

export interface MoveInOptions {
  /** Whose texts they are. Default: `unknown`. */
  readonly from?: TextWriter | undefined;
  /** What the files are: one of the formats that the plugin knows. Default: what it says. */
  readonly format?: string | undefined;
}

/** What moving in does, or would do. */
export interface MoveInPlan extends ImportPlan {
  /** What the files are, as the plugin calls it. */
  readonly format: string;
  /** How many files there are. */
  readonly found: number;
  /** What is not taken, or not as it was, each with the reason. */
  readonly left: readonly LeftFile[];
}

export interface RefusedFile {
  /** With its scope before it; only the scope if it concerns all of its files. Can contain any character. */
  readonly path: string;
  readonly code: ErrorCode;
  /** As a clause about "it". */
  readonly reason: string;
}
