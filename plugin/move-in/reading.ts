/** What the readers of files share: what is made of them, and what is known of a file that goes on in the next call. */
import type { Format } from "./formats.ts";
import type { Draft, Intake } from "./intake.ts";
import type { ScanPlace } from "./json-scan.ts";

/** A file's text from where the last call has ended; `more`: not up to the end of the file. */
export interface FilePiece {
  readonly path: string;
  readonly text: string;
  readonly more: boolean;
}

/** What of a file the next call has to know that goes on with it. */
export interface OpenFile {
  readonly path: string;
  /** How it is read, as its first piece says; `passed`: not at all, because there are too many entries. */
  readonly way: "note" | "list" | "export" | "passed";
  /** Lines of a list, or memories of an export, that are behind. */
  counted: number;
  /** Of a note whose text goes on: what its next part is like, and its number. */
  note?: { readonly draft: Omit<Draft, "body">; readonly part: number };
  scan?: ScanPlace;
}

/** The readers return how many characters of a piece they have read: no more than the answer has room for. */
export interface Reading {
  readonly intake: Intake;
  readonly format: Format;
  /** What an index says of a file, by its path in NFC. */
  readonly hooks: Record<string, string>;
  /** Whose memories an export has: those of others are not taken. */
  owner: string | null;
}
