import { ToolError } from "../../values/tool-error.ts";
import type { ChainHead } from "../audit-log.ts";
import type { AuditEntry } from "../audit-record.ts";
import type { LogFile } from "./disk/log-file.ts";
import type { LogFolder } from "./disk/log-folder.ts";
import { headBytes } from "./log-end.ts";
import { fullNameOf, headNameOf } from "./log-names.ts";
import { recordLine } from "./record-line.ts";

/** The present state of a log's files, which only this process writes. */
export interface WrittenFiles {
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
export class LogWriter implements Disposable {
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
