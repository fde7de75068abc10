import type { Directory, DiskFile } from "../disk/directory.ts";
import type { DataRoot } from "../disk/pinned-directory.ts";
import { ToolError } from "../values/tool-error.ts";
import type { ChainHead } from "./chain.ts";
import { fullNameOf, headBytes, headNameOf } from "./names-and-head.ts";

const shown = "the log";

/** Opens a file of a log for reading; `null` if there is none. Messages do not name it. */
export const findLogFile = (folder: Directory, name: string): DiskFile | null => folder.openFile(name, shown, "read");

/** Opens a file of a log for writing, and makes it if there is none. */
export const makeLogFile = (folder: Directory, name: string): DiskFile =>
  folder.openFile(name, shown, "make") ?? unsafe("its file has gone");

/** A log that was opened for writing. Only this process writes its files. */
export interface OpenLog {
  readonly root: DataRoot;
  readonly folder: Directory;
  readonly name: string;
  /** The size at which the next file begins. */
  readonly fileBytesMax: number;
  readonly headFile: DiskFile;
  readonly file: DiskFile;
  /** The number of the file's first record; `null` while it has none. */
  readonly firstSeq: number | null;
  /** Where the chain ends; `null` before the first record. */
  readonly last: ChainHead | null;
}

/** Appends records to a log, each completely or not at all, and begins a new file when one is full. */
export class AppendLog implements Disposable {
  readonly #log: Omit<OpenLog, "file" | "firstSeq" | "last">;
  /** `null` after a full file was renamed, until the next one is created. */
  #file: DiskFile | null;
  #bytes: number;
  #firstSeq: number | null;
  /** Where the chain ends; `null` before the first record. Only `append` changes it. */
  last: ChainHead | null;
  /** A write failed, and its traces could not be removed. */
  #isUneven = false;

  /** Takes over the open files and the folder, and closes them when it is disposed of. */
  constructor({ file, firstSeq, last, ...log }: OpenLog) {
    this.#log = log;
    [this.#file, this.#bytes, this.#firstSeq, this.last] = [file, file.size(), firstSeq, last];
  }

  /**
   * Writes whole lines, all or none. `firstSeq` is the number of the first, `head` is where the chain ends after them.
   * When it throws, the files hold nothing of them, or the next call removes it first. Throws `STORAGE_UNSAFE` when a
   * file is not where it was, or when somebody else has written to it.
   */
  append(lines: Uint8Array, firstSeq: number, head: ChainHead): void {
    if (this.#isUneven) this.#makeEven();
    this.#checkInPlace();
    if (this.#bytes > 0 && this.#bytes + lines.length > this.#log.fileBytesMax) this.#moveAway();
    this.#file ??= this.#begin();
    try {
      this.#file.write(this.#bytes, lines);
      this.#log.headFile.write(0, headBytes(head));
    } catch (error) {
      this.#isUneven = true;
      try {
        this.#makeEven();
      } catch {
        // The disk still fails. The next call tries again first.
      }
      throw error;
    }
    this.#bytes += lines.length;
    this.#firstSeq ??= firstSeq;
    this.last = head;
  }

  /** Makes everything durable. */
  flush(): void {
    this.#file?.flushNow();
    this.#log.headFile.flushNow();
  }

  [Symbol.dispose](): void {
    for (const each of [this.#file, this.#log.headFile, this.#log.folder]) each?.[Symbol.dispose]();
  }

  /** Refuses to write to files that were moved: their new place would receive records that nobody looks for there. */
  #checkInPlace(): void {
    const { root, folder, name, headFile } = this.#log;
    if (root.identityNow() !== folder.identity) unsafe("its folder is not where it was");
    if (folder.identityOf(headNameOf(name)) !== headFile.identity) unsafe("its head is not where it was");
    if (this.#file === null) return;
    if (folder.identityOf(name) !== this.#file.identity) unsafe("its file is not where it was");
    const found = folder.measure(name)?.bytes;
    if (found !== this.#bytes) unsafe(`its file is ${found} bytes; expected ${this.#bytes}`);
  }

  /** Only a process that ignores the lock could take the new name after the check. */
  #moveAway(): void {
    const { folder, name } = this.#log;
    const fullName = fullNameOf(name, this.#firstSeq ?? 0);
    this.flush();
    if (folder.identityOf(fullName) !== null) unsafe("the name for its full file is taken");
    folder.rename(name, folder, fullName);
    this.#file?.[Symbol.dispose]();
    [this.#file, this.#bytes, this.#firstSeq] = [null, 0, null];
  }

  #begin(): DiskFile {
    const { folder, name } = this.#log;
    folder.create(name, Buffer.of(), shown);
    this.#file = makeLogFile(folder, name);
    folder.flushNow();
    return this.#file;
  }

  #makeEven(): void {
    this.#file?.truncate(this.#bytes);
    if (this.last === null) this.#log.headFile.truncate(0);
    else this.#log.headFile.write(0, headBytes(this.last));
    this.#isUneven = false;
  }
}

function unsafe(reason: string): never {
  throw new ToolError("STORAGE_UNSAFE", `Cannot write the log: ${reason}`);
}
