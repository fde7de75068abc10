/** What the owner is shown of a write that waits. */
import type { OriginClass } from "../../shared/origin.ts";
import { counted, quoted } from "../../shared/text.ts";
import { ToolError } from "../values/tool-error.ts";
import type { TextOrigin } from "./file-version.ts";

/** A write that waits for the owner of the memory. */
export interface WaitingWrite extends TextOrigin {
  readonly id: string;
  /** When its call was made. */
  readonly at: Date;
  /** When it is dropped. */
  readonly expires: Date;
  readonly tool: string;
  readonly plugin: string;
  /** The lowest of the class, of what the model was exposed to, and of what its run had read. */
  readonly trust: OriginClass;
  readonly turn: string | null;
  /** The same as in the audit log. */
  readonly callId: string;
  /** What it would change, in order. */
  readonly files: readonly WaitingFile[];
}

export interface WaitingFile {
  readonly scope: string;
  /** Inside the scope. */
  readonly path: string;
  /** `create` and `replace` write the text; `trash` moves the file to the trash. */
  readonly change: "create" | "replace" | "trash";
  /** Whether the plugin makes it from its other files, as an index. Then it can differ when it is written. */
  readonly isDerived: boolean;
  /** The new text; `null` for `trash`, and for bytes that are not UTF-8. */
  readonly text: string | null;
}

/** A waiting write beside the present files. */
export interface ShownWrite extends WaitingWrite {
  /** Whether the files are as they were when the call was made. If not, an approval shows the write again. */
  readonly isCurrent: boolean;
  readonly files: readonly ShownFile[];
}

export interface ShownFile extends WaitingFile {
  /** The present text; `null` if there is no file, or it is not UTF-8. */
  readonly present: string | null;
  /** How far the present text is trusted; `null` if there is no file. An approval trusts all of the new text. */
  readonly presentTrust: OriginClass | null;
  /** What the write changes, as lines of a unified diff; `null` if one of the two is not text, or they differ too much. */
  readonly lines: readonly string[] | null;
}

/** What `approve` can be given. */
export interface ApproveOptions {
  /** The owner's text, whole, in place of that of the only file that the write has a text for. Default: what waits. */
  readonly text?: string | undefined;
}

/** What an approval has done. */
export type Approval =
  | { readonly applied: true; readonly write: WaitingWrite }
  /** The files have changed since the write was shown. It waits again, under another id, as it would be now. */
  | { readonly applied: false; readonly write: ShownWrite };

/** The file of a write whose text the owner can correct. Throws `INPUT_INVALID` unless it writes exactly one. */
export function fileToCorrect({ id, files }: WaitingWrite): WaitingFile & { readonly text: string } {
  const written = files.filter(({ isDerived, change }) => !isDerived && change !== "trash");
  const [file] = written;
  if (written.length === 1 && file && file.text !== null) return { ...file, text: file.text };
  const expected = "one with a text; approve it as it is and then edit the entries, or reject it";
  throw new ToolError(
    "INPUT_INVALID",
    `Cannot correct ${quoted(id)}: it writes ${counted(written.length, "file")}; expected ${expected}`,
  );
}
