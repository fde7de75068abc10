import { ToolError } from "../../values/tool-error.ts";
import type { ChainHead } from "../audit-log.ts";
import type { AuditEntry } from "../audit-record.ts";
import type { LogFile } from "./disk/log-file.ts";
import type { LogFolder } from "./disk/log-folder.ts";
import { headBytes } from "./log-end.ts";
import { fullNameOf, headNameOf } from "./log-names.ts";
import { recordLine } from "./record-line.ts";

/** The files of a log that this process alone writes: as its opening has found them, then as they are. */
export interface WrittenFiles {
  readonly folder: LogFolder;
  readonly name: string;
  readonly fileBytesMax: number;
  /** Holds the lock, and keeps its name while full files are moved away. */
  readonly headFile: LogFile;
  /** `null` when a full file was moved away and the next could not be made yet. */
  log: LogFile | null;
  /** What is in the log's file. */
  bytes: number;
  /** The file's first record; `null` while it has none. */
  firstSeq: number | null;
  last: ChainHead | null;
}

/** Writes records behind each other, each as a whole or not at all, and begins a new file when one is full. */
export class LogWriter implements Disposable {
  readonly #now: WrittenFiles;
  /** A write has failed, and what it left could not be taken back. */
  #isUneven = false;

  constructor(found: WrittenFiles) {
    this.#now = { ...found };
  }

  /**
   * Writes a record, and another behind it if there is one: all or nothing. Returns where the chain then ends. When it throws,
   * nothing of them is there, or the next call removes it first.
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

  /** What is not where it was is not written to: who moves a log away would never see the rest of it. */
  #checkInPlace(): void {
    const { folder, name, headFile, log, bytes } = this.#now;
    if (!folder.isInPlace()) throw unsafe("its folder is not where it was");
    if (folder.facts(headNameOf(name))?.identity !== headFile.identity) throw unsafe("its head is not where it was");
    if (log === null) return;
    const facts = folder.facts(name);
    if (facts?.identity !== log.identity) throw unsafe("its file is not where it was");
    if (facts.bytes !== bytes) throw unsafe(`its file is ${facts.bytes} bytes, ${bytes} were written`);
  }

  /** Killed between any two of these steps, the next opening finds the last record in the file that was moved away. */
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
      // The disk is in a bad way. The next record begins with it.
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
