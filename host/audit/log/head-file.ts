import type { ChainHead } from "../audit-log.ts";
import type { LogFile } from "./disk/log-file.ts";
import type { LogFolder } from "./disk/log-folder.ts";
import { headNameOf } from "./log-names.ts";

/**
 * The head of a log: a file of fixed size that says which record is the last. Without it nobody could tell that the end of
 * a log was taken away. `empty` is what it is before the first record.
 */
export type HeadText = ChainHead | "empty" | "unreadable";

/** Written over the one before in a single write, within one sector of the disk. */
export function headBytes({ seq, hash }: ChainHead): Uint8Array {
  return Buffer.from(`${String(seq).padStart(12, "0")} ${hash}\n`);
}

export const headFileBytesMax = 4096;

export function readHead(file: LogFile): HeadText {
  const bytes = Buffer.alloc(headFileBytesMax);
  const text = bytes.toString("latin1", 0, file.read(0, bytes));
  if (text === "") return "empty";
  const [, seq, hash] = /^(\d{12}) ([0-9a-f]{64})\n$/.exec(text) ?? [];
  return seq === undefined || hash === undefined ? "unreadable" : { seq: Number(seq), hash };
}

/** As `readHead`, of the head that lies beside a log; `null` when none does. */
export function findHead(folder: LogFolder, name: string): HeadText | null {
  using file = folder.findFile(headNameOf(name));
  return file && readHead(file);
}
