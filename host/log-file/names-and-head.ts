/**
 * The files beside a log's own: full files, which are named after their first record, and the head. The head is a file
 * of fixed size that names the last record. It shows whether the end of a log was removed.
 */
import type { Directory, DiskFile } from "../disk/directory.ts";
import type { ChainHead } from "./chain.ts";

const digits = (seq: number): string => String(seq).padStart(12, "0");

/** For `audit.jsonl`: `audit.jsonl.head`. */
export const headNameOf = (name: string): string => `${name}.head`;

/** For `audit.jsonl` and record 7: `audit.jsonl.000000000007.jsonl`. */
export const fullNameOf = (name: string, firstSeq: number): string => `${name}.${digits(firstSeq)}.jsonl`;

/** Whether a name could be that of another log's head or full file. */
export const isBesideName = (name: string): boolean => /\.(head|\d{12}\.jsonl)$/i.test(name);

/** The full files of a log, each with the number of its first record, from the oldest to the newest. */
export function fullFilesOf(folder: Directory, name: string): { readonly name: string; readonly firstSeq: number }[] {
  const names = folder.entries().map((entry) => entry.name);
  const full = names.filter(
    (each) => each.startsWith(`${name}.`) && /^\d{12}\.jsonl$/.test(each.slice(name.length + 1)),
  );
  return full
    .toSorted()
    .map((each) => ({ name: each, firstSeq: Number(each.slice(name.length + 1, -".jsonl".length)) }));
}

/** What a head says: the last record, or that it is `empty`, as before the first record, or that it is no head. */
export type HeadText = ChainHead | "empty" | "unreadable";

/** A larger head is none. */
export const headFileBytesMax = 4096;

/** The content of a head. One write within one sector of the disk replaces the content before it. */
export const headBytes = ({ seq, hash }: ChainHead): Buffer => Buffer.from(`${digits(seq)} ${hash}\n`);

/** Reads a head. */
export function readHead(file: DiskFile): HeadText {
  const text = file.read(0, headFileBytesMax).toString("latin1");
  if (text === "") return "empty";
  const [, seq, hash] = /^(\d{12}) ([0-9a-f]{64})\n$/.exec(text) ?? [];
  return seq === undefined || hash === undefined ? "unreadable" : { seq: Number(seq), hash };
}
