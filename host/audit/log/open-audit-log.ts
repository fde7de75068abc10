import { setTimeout } from "node:timers/promises";

import { auditLimits } from "../../../shared/limits.ts";
import type { Directory, DiskFile } from "../../disk/directory.ts";
import { tryFileLock } from "../../disk/native-calls.ts";
import type { DiskRoot } from "../../disk/pinned-directory.ts";
import { AppendLog, makeLogFile, findLogFile } from "../../log-file/append-log.ts";
import { hashOf } from "../../log-file/chain.ts";
import type { ChainHead } from "../../log-file/chain.ts";
import { endOf } from "../../log-file/lines.ts";
import { fullFilesOf, headFileBytesMax, headNameOf, readHead } from "../../log-file/names-and-head.ts";
import type { HeadText } from "../../log-file/names-and-head.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { AuditLog, AuditLogOptions } from "../audit-log.ts";
import type { AuditEntry, RecordOf } from "../audit-record.ts";
import { failureOfLog, placeOf } from "./log-place.ts";
import { firstSeqOf, linesOf, parseLine, positionOf, recordLine } from "./record-line.ts";

type CheckedOptions = Required<AuditLogOptions>;

export interface AuditLogParts extends Pick<RecordOf<"opened">, "memcell" | "plugins" | "policy"> {
  /** Whether a file would be among the users' files, where the log must not be. */
  readonly isAmongUsers: (file: string) => boolean;
  /** How long to wait while another runtime writes the log. Milliseconds. */
  readonly waitMs: number;
  /** Ends this wait with `CANCELLED`. */
  readonly signal?: AbortSignal | undefined;
  /** Reports to the operator a wait for another runtime, what was found at the log's end, and lost records. */
  readonly note: (text: string) => void;
}

/**
 * Opens a log for writing, and writes an `opened` record.
 *
 * Rejects with `BUSY` when another runtime keeps it open, with `CANCELLED` when the signal ends the wait for that, with
 * `STORAGE_UNSAFE`, `STORAGE_FULL`, `STORAGE_BUSY` or `STORAGE_FAILED` when it cannot be opened or written.
 */
export async function openAuditLog(options: CheckedOptions, parts: AuditLogParts): Promise<AuditLog> {
  const { memcell, plugins, policy, note } = parts;
  const { files, tornBytes, missing, head } = await openLogFiles(options, parts);
  const log = auditLogOf(files, options.onFailure === "continue", note);
  try {
    if (missing > 0) note(`audit log: ${missing} records that were written are missing`);
    if (head === "differs") note("audit log: its head does not match the record that it names");
    if (head === "lost") note("audit log: its head cannot be read; it is unknown whether records are missing");
    log.append({ kind: "opened", memcell, plugins, policy, tornBytes, missing, head });
    return log;
  } catch (error) {
    files[Symbol.dispose]();
    throw error;
  }
}

function auditLogOf(files: AppendLog, goesOn: boolean, note: AuditLogParts["note"]): AuditLog {
  /** Records that could not be written since the last one that was. */
  let lost = 0;
  let isClosed = false;

  function append(entry: AuditEntry): ChainHead | null {
    if (isClosed) throw new ToolError("CLOSED", "Cannot write the audit log: it is closed");
    try {
      const before = lost === 0 ? null : recordLine({ kind: "lost", records: lost }, files.last);
      const { bytes, head } = recordLine(entry, before?.head ?? files.last);
      // Both records or none: on a nearly full disk the short one alone would be written again and again.
      if (before === null) files.append(bytes, head.seq, head);
      else files.append(Buffer.concat([before.bytes, bytes]), before.head.seq, head);
      if (lost > 0) note(`audit log: ${lost} records were lost`);
      lost = 0;
      return head;
    } catch (error) {
      const failure = failureOfLog(error, "write");
      if (!goesOn) throw failure;
      if (lost++ === 0) note(`audit log: calls continue without records: ${failure.message}`);
      return null;
    }
  }

  function close(): void {
    if (isClosed) return;
    try {
      append({ kind: "closed" });
      files.flush();
    } catch (error) {
      if (!goesOn) throw failureOfLog(error, "write");
    } finally {
      isClosed = true;
      files[Symbol.dispose]();
    }
    if (lost > 0) note(`audit log: ${lost} records were lost, and no record says so`);
  }

  return { append, close };
}

/** Opens and locks the files of a log, and finds where the chain continues. */
async function openLogFiles({ file: given, fileBytesMax }: CheckedOptions, parts: AuditLogParts) {
  const opened: Disposable[] = [];
  try {
    const { path, root, name } = placeOf(given);
    const folder = await openFolder(root, () => parts.isAmongUsers(path));
    opened.push(folder);
    // Refuses anything but a plain file before it creates files beside it.
    findLogFile(folder, name)?.[Symbol.dispose]();
    const headFile = await lockHead(folder, headNameOf(name), parts);
    opened.push(headFile);
    const file = makeLogFile(folder, name);
    opened.push(file);
    folder.flushNow();
    const { tornBytes, wholeBytes } = endOf(file);
    if (tornBytes > 0) file.truncate(wholeBytes);
    const inFile = lastRecordIn(file);
    const { last, missing, head } = resumeChain(inFile ?? lastRecordInFull(folder, name), readHead(headFile), file);
    // A full file is named after its first record, or after its last if its first line is not a record.
    const firstSeq = inFile && (firstSeqOf(file) ?? inFile.seq);
    const files = new AppendLog({ root, folder, name, fileBytesMax, headFile, file, firstSeq, last });
    return { files, tornBytes, missing, head };
  } catch (error) {
    for (const each of opened) each[Symbol.dispose]();
    throw failureOfLog(error, "open");
  }
}

/** Checks the place twice, because the names of folders that do not exist yet do not show where they will be. */
async function openFolder(root: DiskRoot, isAmongUsers: () => boolean): Promise<Directory> {
  const folder = isAmongUsers() ? null : await root.make();
  if (folder !== null && !isAmongUsers()) return folder;
  folder?.[Symbol.dispose]();
  throw new ToolError("STORAGE_UNSAFE", `${cannotOpen}: it would lie among the users' files`);
}

const cannotOpen = "Cannot open the audit log";
const inUse = "another runtime writes it, such as a server";

/** The pause between two attempts to take the lock. */
const pollMs = 20;

/** Locks the head, because the log's own file is renamed when it is full. */
async function lockHead(folder: Directory, name: string, { waitMs, signal, note }: AuditLogParts): Promise<DiskFile> {
  const start = performance.now();
  for (let isTold = false; ; isTold = true) {
    const headFile = openLockedHead(folder, name);
    if (headFile !== null) return headFile;
    const waitedMs = Math.round(performance.now() - start);
    if (waitedMs >= waitMs) {
      const reason = `${inUse}, and has not closed it for ${waitedMs} ms`;
      throw new ToolError("BUSY", `${cannotOpen}: ${reason}; stop that one, or name another log file`);
    }
    if (!isTold) note(`audit log: ${inUse}; waiting until it is closed, for at most ${waitMs} ms`);
    if (signal?.aborted) throw new ToolError("CANCELLED", `${cannotOpen}: ${inUse}, and the wait was ended`);
    await setTimeout(pollMs);
  }
}

/** `null` if another runtime has the lock. */
function openLockedHead(folder: Directory, name: string): DiskFile | null {
  const headFile = makeLogFile(folder, name);
  let isLocked = false;
  try {
    const bytes = headFile.size();
    if (bytes > headFileBytesMax)
      throw new ToolError(
        "STORAGE_UNSAFE",
        `${cannotOpen}: its head is ${bytes} bytes; expected at most ${headFileBytesMax}`,
      );
    // Its last holder can have removed the file. A lock on a removed file locks nobody out.
    isLocked = tryFileLock(headFile, "exclusive") && folder.identityOf(name) === headFile.identity;
    return isLocked ? headFile : null;
  } finally {
    if (!isLocked) headFile[Symbol.dispose]();
  }
}

/** The last line of a log. `prev` is `null` if it is no record. */
type LastRecord = ChainHead & { readonly prev: string | null };

/** The last whole line of a file; `null` without one. */
function lastRecordIn(file: DiskFile): LastRecord | null {
  const { lastLineAt } = endOf(file);
  if (lastLineAt === null) return null;
  const [line = null] = linesOf(file, lastLineAt);
  const { seq = seqByCounting(file), prev = null } = positionOf(line && parseLine(line)) ?? {};
  return line && { hash: hashOf(line.bytes), seq, prev };
}

/** The number of a last line that does not contain it, counted from the nearest earlier line that contains its own. */
function seqByCounting(file: DiskFile): number {
  let seq = -1;
  for (const line of linesOf(file)) {
    if (!line.isTorn) seq = positionOf(parseLine(line))?.seq ?? seq + 1;
  }
  return Math.min(seq, auditLimits.seqMax);
}

/** The last record of the newest full file. The process can be killed before it writes the next file's first record. */
function lastRecordInFull(folder: Directory, name: string): LastRecord | null {
  const newest = fullFilesOf(folder, name).at(-1);
  using file = newest === undefined ? null : findLogFile(folder, newest.name);
  return file && lastRecordIn(file);
}

/** The hash of a record in a log's file; `null` when the file does not have it. */
function hashAt(file: DiskFile, seq: number): string | null {
  for (const line of linesOf(file)) {
    const position = positionOf(parseLine(line));
    if (position?.seq === seq) return hashOf(line.bytes);
    if (position?.seq === seq + 1) return position.prev;
  }
  return null;
}

/** Where an opened log continues. */
interface Resumption {
  /** The record before the next one; `null` when the next one is the first. */
  readonly last: ChainHead | null;
  readonly missing: number;
  readonly head: RecordOf<"opened">["head"];
}

/**
 * Compares the end of a log with its head. If they contradict each other, the log continues from the head, so the gap
 * or the altered record stays visible in the chain.
 *
 * A process can be killed after it wrote a record and before it wrote the head. The head then names the record before.
 */
function resumeChain(found: LastRecord | null, head: HeadText, file: DiskFile): Resumption {
  const last = found && { seq: found.seq, hash: found.hash };
  if (head === "unreadable") return { last, missing: 0, head: "lost" };
  if (head === "empty") return { last, missing: 0, head: found === null ? "new" : found.seq === 0 ? "agrees" : "lost" };
  if (found === null || head.seq > found.seq)
    return { last: head, missing: head.seq - (found?.seq ?? -1), head: "agrees" };
  if (head.seq === found.seq) {
    return { last: head, missing: 0, head: head.hash === found.hash ? "agrees" : "differs" };
  }
  if (head.seq === found.seq - 1 && head.hash === found.prev) return { last, missing: 0, head: "agrees" };
  return { last, missing: 0, head: hashAt(file, head.seq) === head.hash ? "behind" : "differs" };
}
