import { ToolError } from "../../values/tool-error.ts";
import type { ChainHead } from "../audit-log.ts";
import type { AuditEntry } from "../audit-record.ts";
import type { LogFile } from "./disk/log-file.ts";
import type { LogFolder } from "./disk/log-folder.ts";
import { headBytes } from "./log-end.ts";
import { fullNameOf, headNameOf } from "./log-names.ts";
import { recordLine } from "./record-line.ts";

/** The files of a log that this process alone writes, as its opening has found them. */
export interface WriterParts {
  readonly folder: LogFolder;
  readonly name: string;
  /** Holds the lock, and keeps its name while full files are moved away. */
  readonly headFile: LogFile;
  readonly log: LogFile;
  /** What is in the log's file. */
  readonly bytes: number;
  /** The file's first record; `null` while it has none. */
  readonly firstSeq: number | null;
  readonly last: ChainHead | null;
  readonly fileBytesMax: number;
}

/** Writes records behind each other, each as a whole or not at all, and begins a new file when one is full. */
export class LogWriter implements Disposable {
  readonly #parts: Pick<WriterParts, "folder" | "name" | "headFile" | "fileBytesMax">;
  /** `null` when a full file was moved away and the next could not be made yet. */
  #log: LogFile | null;
  #bytes: number;
  #firstSeq: number | null;
  #last: ChainHead | null;
  /** A write has failed, and what it left could not be taken back. */
  #isUneven = false;

  constructor(parts: WriterParts) {
    this.#parts = parts;
    this.#log = parts.log;
    this.#bytes = parts.bytes;
    this.#firstSeq = parts.firstSeq;
    this.#last = parts.last;
  }

  /**
   * Writes a record, and another behind it if there is one: all or nothing. Returns where the chain then ends. When it throws,
   * nothing of them is there, or the next call removes it first.
   */
  append(first: AuditEntry, second?: AuditEntry): ChainHead {
    const line = recordLine(first, this.#last);
    if (second === undefined) return this.#write(line.bytes, line.head);
    const next = recordLine(second, line.head);
    return this.#write(Buffer.concat([line.bytes, next.bytes]), next.head);
  }

  #write(bytes: Uint8Array, head: ChainHead): ChainHead {
    if (this.#isUneven) this.#makeEven();
    this.#checkInPlace();
    if (this.#bytes > 0 && this.#bytes + bytes.length > this.#parts.fileBytesMax) this.#moveAway();
    const log = (this.#log ??= this.#begin());
    try {
      log.write(this.#bytes, bytes);
      this.#parts.headFile.write(0, headBytes(head));
    } catch (error) {
      this.#takeBack();
      throw error;
    }
    this.#bytes += bytes.length;
    this.#firstSeq ??= this.#last === null ? 0 : this.#last.seq + 1;
    this.#last = head;
    return head;
  }

  flush(): void {
    this.#log?.flush();
    this.#parts.headFile.flush();
  }

  [Symbol.dispose](): void {
    this.#log?.[Symbol.dispose]();
    this.#parts.headFile[Symbol.dispose]();
    this.#parts.folder[Symbol.dispose]();
  }

  /** What is not where it was is not written to: who moves a log away would never see the rest of it. */
  #checkInPlace(): void {
    const { folder, name, headFile } = this.#parts;
    if (!folder.isInPlace()) throw unsafe("its folder is not where it was");
    if (folder.facts(headNameOf(name))?.identity !== headFile.identity) throw unsafe("its head is not where it was");
    if (this.#log === null) return;
    const facts = folder.facts(name);
    if (facts?.identity !== this.#log.identity) throw unsafe("its file is not where it was");
    if (facts.bytes !== this.#bytes) {
      throw unsafe(`its file is ${facts.bytes} bytes, ${this.#bytes} were written`);
    }
  }

  /** Killed between any two of these steps, the next opening finds the last record in the file that was moved away. */
  #moveAway(): void {
    const { folder, name } = this.#parts;
    this.flush();
    folder.rename(name, fullNameOf(name, this.#firstSeq ?? 0));
    this.#log?.[Symbol.dispose]();
    this.#log = null;
    this.#bytes = 0;
    this.#firstSeq = null;
  }

  #begin(): LogFile {
    const { folder, name } = this.#parts;
    const log = folder.openFile(name, "makeNew");
    this.#log = log;
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
    const { headFile } = this.#parts;
    this.#log?.truncate(this.#bytes);
    if (this.#last === null) headFile.truncate(0);
    else headFile.write(0, headBytes(this.#last));
    this.#isUneven = false;
  }
}

function unsafe(reason: string): ToolError {
  return new ToolError("STORAGE_UNSAFE", `Cannot write the audit log: ${reason}`);
}
