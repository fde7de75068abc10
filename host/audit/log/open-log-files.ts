import { basename, dirname, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";

import { ToolError } from "../../values/tool-error.ts";
import type { AuditLogOptions } from "../audit-log.ts";
import { firstSeqOf, positionIn } from "./chain-position.ts";
import type { LogFile } from "./disk/log-file.ts";
import { LogFolder } from "./disk/log-folder.ts";
import { makeFolders } from "./disk/log-location.ts";
import { headFileBytesMax, readHead } from "./head-file.ts";
import { readEnd } from "./log-end.ts";
import type { LogEnd } from "./log-end.ts";
import { firstSeqIn, headNameOf } from "./log-names.ts";
import { LogWriter } from "./log-writer.ts";
import { readLines } from "./read-lines.ts";
import { resumeChain } from "./resume-chain.ts";
import type { Resumption } from "./resume-chain.ts";

export interface OpenedLog extends Pick<Resumption, "missing" | "head"> {
  readonly writer: LogWriter;
  readonly tornBytes: number;
}

export interface LogAccess {
  /** Whether a file would lie among what users keep. */
  readonly isAmongUsers: (file: string) => boolean;
  readonly waitMs: number;
}

/** Opens the files of a log, keeps others out, and finds where the chain goes on. */
export async function openLogFiles(
  { file, fileBytesMax }: Required<AuditLogOptions>,
  { isAmongUsers, waitMs }: LogAccess,
): Promise<OpenedLog> {
  const path = resolve(file);
  const name = basename(path);
  const folder = openFolder(path, isAmongUsers);
  const opened: Disposable[] = [folder];
  try {
    // What is no plain file is refused before anything is made beside it.
    folder.findFile(name)?.[Symbol.dispose]();
    const headFile = await lockHead(folder, name, waitMs);
    opened.push(headFile);
    const log = folder.openFile(name, "make");
    opened.push(log);
    folder.flush();
    const end = readEnd(log);
    if (end.tornBytes > 0) log.truncate(end.wholeBytes);
    const { last, missing, head } = resumeChain(end.last ?? endOfFullFiles(folder, name), readHead(headFile), (seq) =>
      hashAt(log, seq),
    );
    // What a full file is called after. One whose first line is no record is called after its last.
    const firstSeq = end.last && (firstSeqOf(log) ?? end.last.seq);
    const writer = new LogWriter({ folder, name, headFile, log, bytes: end.wholeBytes, firstSeq, last, fileBytesMax });
    return { writer, tornBytes: end.tornBytes, missing, head };
  } catch (error) {
    for (const each of opened) each[Symbol.dispose]();
    throw error;
  }
}

/** Asked again when the folders are there: before, what they are called need not tell what they are. */
function openFolder(file: string, isAmongUsers: LogAccess["isAmongUsers"]): LogFolder {
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

/** Between two attempts to get a lock that another process keeps as long as it runs. */
const pollMs = 20;

/** The lock lies on the head: the log's own file is moved away when it is full. */
async function lockHead(folder: LogFolder, name: string, waitMs: number): Promise<LogFile> {
  const start = performance.now();
  for (;;) {
    const headFile = folder.openFile(headNameOf(name), "make", headFileBytesMax);
    try {
      // Who held it may have removed it; then it keeps nobody out.
      if (headFile.tryLock() && folder.facts(headNameOf(name))?.identity === headFile.identity) return headFile;
    } catch (error) {
      headFile[Symbol.dispose]();
      throw error;
    }
    headFile[Symbol.dispose]();
    const waitedMs = Math.round(performance.now() - start);
    if (waitedMs >= waitMs) {
      throw new ToolError("BUSY", `Cannot open the audit log: another runtime has been writing it for ${waitedMs} ms`);
    }
    await setTimeout(pollMs);
  }
}

/** The last record of the newest file that was full: who begins the next one may have been killed before its first. */
function endOfFullFiles(folder: LogFolder, name: string): LogEnd["last"] {
  const fullNames = folder.names().filter((each) => firstSeqIn(each, name) !== null);
  // Their numbers all have twelve digits.
  const newest = fullNames.toSorted().at(-1);
  if (newest === undefined) return null;
  using file = folder.openFile(newest, "read");
  return readEnd(file).last;
}

function hashAt(log: LogFile, seq: number): string | null {
  for (const line of readLines(log)) {
    const position = line.isTorn ? null : positionIn(line);
    if (position?.seq === seq) return line.hash();
    if (position?.seq === seq + 1) return position.prev;
  }
  return null;
}
