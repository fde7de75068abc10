import { basename, dirname, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";

import { ToolError } from "../../values/tool-error.ts";
import type { AuditLog, AuditLogOptions, ChainHead } from "../audit-log.ts";
import type { AuditEntry, PluginIdentity } from "../audit-record.ts";
import type { LogFile } from "./disk/log-file.ts";
import { LogFolder, makeFolders } from "./disk/log-folder.ts";
import { endOfFullFiles, headBytes, headFileBytesMax, readEnd, readHead, resumeChain } from "./log-end.ts";
import type { Resumption } from "./log-end.ts";
import { checkAuditLogOptions, fullNameOf, headNameOf } from "./log-names.ts";
import { firstSeqOf } from "./read-lines.ts";
import { recordLine } from "./record-line.ts";

export interface AuditLogParts {
  /** Whether a file would be among the users' files, where the log must not be. */
  readonly isAmongUsers: (file: string) => boolean;
  readonly memcell: string;
  readonly plugins: readonly PluginIdentity[];
  /** SHA-256 of the policy. */
  readonly policy: string;
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
 * `STORAGE_UNSAFE`, `STORAGE_FULL`, `STORAGE_BUSY` or `STORAGE_FAILED` when it cannot be opened or written, and with a
 * `TypeError` or `RangeError` for invalid options.
 */
export async function openAuditLog(options: AuditLogOptions, parts: AuditLogParts): Promise<AuditLog> {
  const checked = checkAuditLogOptions(options);
  const { memcell, plugins, policy, note } = parts;
  const { writer, tornBytes, missing, head } = await openLogFiles(checked, parts);
  const log = auditLogOf(writer, checked.onFailure === "continue", note);
  try {
    if (missing > 0) note(`audit log: ${missing} records that were written are missing`);
    if (head === "differs") note("audit log: its head does not match the record that it names");
    if (head === "lost") note("audit log: its head cannot be read; it is unknown whether records are missing");
    log.append({ kind: "opened", memcell, plugins: [...plugins], policy, tornBytes, missing, head });
    return log;
  } catch (error) {
    writer[Symbol.dispose]();
    throw error;
  }
}

function auditLogOf(writer: LogWriter, goesOn: boolean, note: AuditLogParts["note"]): AuditLog {
  /** Records that could not be written since the last one that was. */
  let lost = 0;
  let isClosed = false;

  /** Writes both records or none: on a nearly full disk the short one alone would be written again and again. */
  function appendAfterLoss(entry: AuditEntry): ChainHead {
    const head = writer.append({ kind: "lost", records: lost }, entry);
    note(`audit log: ${lost} records were lost`);
    lost = 0;
    return head;
  }

  function append(entry: AuditEntry): ChainHead | null {
    if (isClosed) throw new ToolError("CLOSED", "Cannot write the audit log: it is closed");
    try {
      return lost === 0 ? writer.append(entry) : appendAfterLoss(entry);
    } catch (error) {
      if (!goesOn) throw error;
      if (lost++ === 0) note(`audit log: calls continue without records: ${reasonOf(error)}`);
      return null;
    }
  }

  function close(): void {
    if (isClosed) return;
    try {
      append({ kind: "closed" });
      writer.flush();
    } catch (error) {
      if (!goesOn) throw error;
    } finally {
      isClosed = true;
      writer[Symbol.dispose]();
    }
    if (lost > 0) note(`audit log: ${lost} records were lost, and no record says so`);
  }

  return { append, close };
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : "the runtime failed");

/** Opens and locks the files of a log, and finds where the chain continues. */
async function openLogFiles(
  { file, fileBytesMax }: Required<AuditLogOptions>,
  { isAmongUsers, ...waiting }: AuditLogParts,
): Promise<Pick<Resumption, "missing" | "head"> & { readonly writer: LogWriter; readonly tornBytes: number }> {
  const path = resolve(file);
  const name = basename(path);
  const folder = openFolder(path, isAmongUsers);
  const opened: Disposable[] = [folder];
  try {
    // Refuses anything but a plain file before it creates files beside it.
    folder.findFile(name)?.[Symbol.dispose]();
    const headFile = await lockHead(folder, name, waiting);
    opened.push(headFile);
    const log = folder.openFile(name, "make");
    opened.push(log);
    folder.flush();
    const end = readEnd(log);
    if (end.tornBytes > 0) log.truncate(end.wholeBytes);
    const found = end.last ?? endOfFullFiles(folder, name);
    const { last, missing, head } = resumeChain(found, readHead(headFile), log);
    // A full file is named after its first record, or after its last if its first line is not a record.
    const firstSeq = end.last && (firstSeqOf(log) ?? end.last.seq);
    const writer = new LogWriter({ folder, name, headFile, log, bytes: end.wholeBytes, firstSeq, last, fileBytesMax });
    return { writer, tornBytes: end.tornBytes, missing, head };
  } catch (error) {
    for (const each of opened) each[Symbol.dispose]();
    throw error;
  }
}

/** Checks the place twice, because the names of folders that do not exist yet do not show where they will be. */
function openFolder(file: string, isAmongUsers: AuditLogParts["isAmongUsers"]): LogFolder {
  const path = dirname(file);
  const refuseUsers = (): void => {
    if (!isAmongUsers(file)) return;
    throw new ToolError("STORAGE_UNSAFE", "Cannot open the audit log: it would lie among the users' files");
  };
  refuseUsers();
  makeFolders(path);
  refuseUsers();
  return LogFolder.open(path);
}

const inUse = "another runtime writes it, such as a server";

/** The pause between two attempts to take the lock. */
const pollMs = 20;

/** Locks the head, because the log's own file is renamed when it is full. */
async function lockHead(
  folder: LogFolder,
  name: string,
  { waitMs, signal, note }: Pick<AuditLogParts, "waitMs" | "signal" | "note">,
): Promise<LogFile> {
  const start = performance.now();
  let isTold = false;
  for (;;) {
    const headFile = folder.openFile(headNameOf(name), "make", headFileBytesMax);
    try {
      // Its last holder can have removed the file. A lock on a removed file locks nobody out.
      if (headFile.tryLock() && folder.facts(headNameOf(name))?.identity === headFile.identity) return headFile;
    } catch (error) {
      headFile[Symbol.dispose]();
      throw error;
    }
    headFile[Symbol.dispose]();
    const waitedMs = Math.round(performance.now() - start);
    if (waitedMs >= waitMs) {
      const reason = `${inUse}, and has not closed it for ${waitedMs} ms`;
      throw new ToolError("BUSY", `Cannot open the audit log: ${reason}; stop that one, or name another log file`);
    }
    if (!isTold) note(`audit log: ${inUse}; waiting until it is closed, for at most ${waitMs} ms`);
    isTold = true;
    if (signal?.aborted)
      throw new ToolError("CANCELLED", `Cannot open the audit log: ${inUse}, and the wait was ended`);
    await setTimeout(pollMs);
  }
}

/** The present state of a log's files, which only this process writes. */
interface WrittenFiles {
  readonly folder: LogFolder;
  readonly name: string;
  readonly fileBytesMax: number;
  /** Holds the lock. It keeps its name while full files are renamed. */
  readonly headFile: LogFile;
  /** `null` after a full file was renamed, until the next one is created. */
  log: LogFile | null;
  /** The size of the log's file. */
  bytes: number;
  /** The number of the file's first record; `null` while it has none. */
  firstSeq: number | null;
  last: ChainHead | null;
}

/** Appends records, each completely or not at all, and begins a new file when one is full. */
class LogWriter implements Disposable {
  readonly #now: WrittenFiles;
  /** A write failed, and its traces could not be removed. */
  #isUneven = false;

  constructor(found: WrittenFiles) {
    this.#now = { ...found };
  }

  /**
   * Writes one or two records, all or none. Returns where the chain then ends. When it throws, the files hold nothing
   * of them, or the next call removes it first.
   */
  append(first: AuditEntry, second?: AuditEntry): ChainHead {
    const line = recordLine(first, this.#now.last);
    if (second === undefined) return this.#write(line.bytes, line.head);
    const next = recordLine(second, line.head);
    return this.#write(Buffer.concat([line.bytes, next.bytes]), next.head);
  }

  #write(bytes: Uint8Array, head: ChainHead): ChainHead {
    if (this.#isUneven) this.#makeEven();
    this.#checkInPlace();
    const now = this.#now;
    if (now.bytes > 0 && now.bytes + bytes.length > now.fileBytesMax) this.#moveAway();
    const log = (now.log ??= this.#begin());
    try {
      log.write(now.bytes, bytes);
      now.headFile.write(0, headBytes(head));
    } catch (error) {
      this.#takeBack();
      throw error;
    }
    now.bytes += bytes.length;
    now.firstSeq ??= now.last === null ? 0 : now.last.seq + 1;
    now.last = head;
    return head;
  }

  flush(): void {
    this.#now.log?.flush();
    this.#now.headFile.flush();
  }

  [Symbol.dispose](): void {
    const { log, headFile, folder } = this.#now;
    for (const each of [log, headFile, folder]) each?.[Symbol.dispose]();
  }

  /** Refuses to write to files that were moved: their new place would receive records that nobody looks for there. */
  #checkInPlace(): void {
    const { folder, name, headFile, log, bytes } = this.#now;
    if (!folder.isInPlace()) throw unsafe("its folder is not where it was");
    if (folder.facts(headNameOf(name))?.identity !== headFile.identity) throw unsafe("its head is not where it was");
    if (log === null) return;
    const facts = folder.facts(name);
    if (facts?.identity !== log.identity) throw unsafe("its file is not where it was");
    if (facts.bytes !== bytes) throw unsafe(`its file is ${facts.bytes} bytes, ${bytes} were written`);
  }

  /** If the process is killed between two steps, the next opening finds the last record in the renamed file. */
  #moveAway(): void {
    const { folder, name, log, firstSeq } = this.#now;
    this.flush();
    folder.rename(name, fullNameOf(name, firstSeq ?? 0));
    log?.[Symbol.dispose]();
    Object.assign(this.#now, { log: null, bytes: 0, firstSeq: null } satisfies Partial<WrittenFiles>);
  }

  #begin(): LogFile {
    const { folder, name } = this.#now;
    const log = folder.openFile(name, "makeNew");
    this.#now.log = log;
    folder.flush();
    return log;
  }

  #takeBack(): void {
    this.#isUneven = true;
    try {
      this.#makeEven();
    } catch {
      // The disk still fails. The next record tries again first.
    }
  }

  #makeEven(): void {
    const { headFile, log, bytes, last } = this.#now;
    log?.truncate(bytes);
    if (last === null) headFile.truncate(0);
    else headFile.write(0, headBytes(last));
    this.#isUneven = false;
  }
}

function unsafe(reason: string): ToolError {
  return new ToolError("STORAGE_UNSAFE", `Cannot write the audit log: ${reason}`);
}
