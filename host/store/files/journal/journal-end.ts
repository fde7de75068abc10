/**
 * How the journal ended when its frames were last settled, in a file of its own beside it: so that neither the journal nor its
 * end can be removed unnoticed. It is written in its place, within one sector of the disk.
 */
import type { Directory } from "../../../disk/directory.ts";
import type { ChainHead } from "../../../log-file/chain.ts";
import { headBytes, readHead } from "../../../log-file/names-and-head.ts";
import type { HeadText } from "../../../log-file/names-and-head.ts";
import { seqMax } from "./format.ts";

const name = "journal-head";

/** The last frame. */
export type JournalEnd = ChainHead;

/** Not flushed: after a crash it names an earlier frame. Made if it is not there. */
export function writeJournalEnd(own: Directory, end: JournalEnd): void {
  using file = own.openFile(name, name, "make");
  file?.write(0, headBytes(end));
}

/** `null` if there is none; `empty` if its content has never reached the disk. */
export function readJournalEnd(own: Directory): HeadText | null {
  using file = own.openFile(name, name, "read");
  const isEmpty = file?.read(0, headBytes({ seq: 0, hash: "" }).length).every((byte) => byte === 0) === true;
  const head = file && (isEmpty ? "empty" : readHead(file));
  return head !== null && typeof head === "object" && head.seq > seqMax ? "unreadable" : head;
}

/** Makes it durable, once: from then on it can be read after a crash. */
export async function flushJournalEnd(own: Directory): Promise<void> {
  using file = own.openFile(name, name, "flush");
  await file?.flush();
}
