import type { Directory, DiskFile } from "../disk/directory.ts";
import type { DataRoot } from "../disk/pinned-directory.ts";
import { ToolError } from "../values/tool-error.ts";
import type { ChainHead } from "./chain.ts";
import { fullNameOf, headBytes, headNameOf } from "./names-and-head.ts";

/** The state of a log's files, which only this process writes. */
export interface WrittenFiles {
  readonly root: DataRoot;
  readonly folder: Directory;
  readonly name: string;
  /** The size at which the next file begins. */
  readonly fileBytesMax: number;
  /** It keeps its name while full files are renamed. */
  readonly headFile: DiskFile;
  /** `null` after a full file was renamed, until the next one is created. */
  file: DiskFile | null;
  /** The size of the log's file. */
  bytes: number;
  /** The number of the file's first record; `null` while it has none. */
  firstSeq: number | null;
  last: ChainHead | null;
}

/** Opens a file of a log; `null` if there is none. Messages do not name it. */
export const openLogFile = (folder: Directory, name: string): DiskFile | null =>
  folder.openFile(name, "the log", "read");

/** The same, and makes the file if there is none. */
export function makeLogFile(folder: Directory, name: string): DiskFile {
  const file = folder.openFile(name, "the log", "make");
  if (file === null) throw unsafe("its file has gone");
  return file;
}

/** Appends records to a log, each completely or not at all, and begins a new file when one is full. */
export class AppendLog implements Disposable {
  readonly #now: WrittenFiles;
  /** A write failed, and its traces could not be removed. */
  #isUneven = false;

  /** Takes over the open files and the folder, and closes them when it is disposed of. */
  constructor(found: WrittenFiles) {
    this.#now = { ...found };
  }

  /** Where the chain ends; `null` before the first record. */
  get last(): ChainHead | null {
    return this.#now.last;
  }

  /**
   * Writes whole lines, all or none. `firstSeq` is the number of the first, `head` is where the chain ends after them.
   * When it throws, the files hold nothing of them, or the next call removes it first.
   *
   * Throws `STORAGE_UNSAFE` when the files are not where they were, or when somebody else has written to them.
   */
  append(lines: Uint8Array, firstSeq: number, head: ChainHead): void {
    if (this.#isUneven) this.#makeEven();
    this.#checkInPlace();
    const now = this.#now;
    if (now.bytes > 0 && now.bytes + lines.length > now.fileBytesMax) this.#moveAway();
    now.file ??= this.#begin();
    try {
      now.file.write(now.bytes, lines);
      now.headFile.write(0, headBytes(head));
    } catch (error) {
      this.#takeBack();
      throw error;
    }
    now.bytes += lines.length;
    now.firstSeq ??= firstSeq;
    now.last = head;
  }

  /** Makes everything durable. */
  flush(): void {
    this.#now.file?.flushNow();
    this.#now.headFile.flushNow();
  }

  [Symbol.dispose](): void {
    const { file, headFile, folder } = this.#now;
    for (const each of [file, headFile, folder]) each?.[Symbol.dispose]();
  }

  /** Refuses to write to files that were moved: their new place would receive records that nobody looks for there. */
  #checkInPlace(): void {
    const { root, folder, name, headFile, file, bytes } = this.#now;
    if (root.identityNow() !== folder.identity) throw unsafe("its folder is not where it was");
    if (folder.identityOf(headNameOf(name)) !== headFile.identity) throw unsafe("its head is not where it was");
    if (file === null) return;
    if (folder.identityOf(name) !== file.identity) throw unsafe("its file is not where it was");
    const found = folder.measure(name)?.bytes;
    if (found !== bytes) throw unsafe(`its file is ${found} bytes, ${bytes} were written`);
  }

  /**
   * Flushes the full file and renames it. Only a process that ignores the lock could take the new name after the check.
   * If this process is killed between two steps, the next opening finds the last record in the renamed file.
   */
  #moveAway(): void {
    const { folder, name, file, firstSeq } = this.#now;
    const fullName = fullNameOf(name, firstSeq ?? 0);
    this.flush();
    if (folder.identityOf(fullName) !== null) throw unsafe("the name for its full file is taken");
    folder.rename(name, folder, fullName);
    file?.[Symbol.dispose]();
    Object.assign(this.#now, { file: null, bytes: 0, firstSeq: null } satisfies Partial<WrittenFiles>);
  }

  #begin(): DiskFile {
    const { folder, name } = this.#now;
    folder.create(name, Buffer.of(), "the log");
    this.#now.file = makeLogFile(folder, name);
    folder.flushNow();
    return this.#now.file;
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
    const { headFile, file, bytes, last } = this.#now;
    file?.truncate(bytes);
    if (last === null) headFile.truncate(0);
    else headFile.write(0, headBytes(last));
    this.#isUneven = false;
  }
}

function unsafe(reason: string): ToolError {
  return new ToolError("STORAGE_UNSAFE", `Cannot write the log: ${reason}`);
}
