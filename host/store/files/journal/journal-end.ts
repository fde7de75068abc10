/**
 * How the journal ended when its frames were last settled, in a file of its own beside it: so that neither the journal nor its
 * end can be removed unnoticed. It is written in its place, within one sector of the disk.
 */
import type { Directory } from "../../../disk/directory.ts";

const name = "journal-head";
const [digits, hashDigits] = [12, 64];
const pattern = /^(\d{12}) ([0-9a-f]{64})\n$/;

export interface JournalEnd {
  /** The number of the frame. */
  readonly seq: number;
  readonly hash: string;
}

/** Not flushed: after a crash it names an earlier frame. Made if it is not there. */
export function writeJournalEnd(own: Directory, { seq, hash }: JournalEnd): void {
  using file = own.openFile(name, name, "make");
  file?.write(0, Buffer.from(`${String(seq).padStart(digits, "0")} ${hash}\n`));
}

/** `null` if there is none. `empty`: its content has never reached the disk; `unreadable`: no host has written it. */
export function readJournalEnd(own: Directory): JournalEnd | "empty" | "unreadable" | null {
  using file = own.openFile(name, name, "read");
  if (file === null) return null;
  const bytes = file.read(0, digits + hashDigits + 2);
  if (bytes.every((byte) => byte === 0)) return "empty";
  const [, seq, hash] = pattern.exec(bytes.toString("latin1")) ?? [];
  return seq === undefined || hash === undefined ? "unreadable" : { seq: Number(seq), hash };
}

/** Makes it durable, once: from then on it can be read after a crash. */
export async function flushJournalEnd(own: Directory): Promise<void> {
  using file = own.openFile(name, name, "flush");
  await file?.flush();
}
