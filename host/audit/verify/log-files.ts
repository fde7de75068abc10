import type { Directory, DiskFile } from "../../disk/directory.ts";
import { findLogFile } from "../../log-file/append-log.ts";
import { fullFilesOf, headNameOf, readHead } from "../../log-file/names-and-head.ts";
import type { HeadText } from "../../log-file/names-and-head.ts";
import { ToolError } from "../../values/tool-error.ts";
import { placeOf } from "../log/log-place.ts";
import { firstSeqOf } from "../log/record-line.ts";

/** One file of a log, for reading. */
export interface LogPart {
  /** Without its folder. */
  readonly name: string;
  /** The number of its first record; from the file's name when its first line is not a record. */
  readonly firstSeq: number;
  open(): DiskFile;
}

/** The files of one log, and what its head said before they were opened. */
export class LogFiles implements Disposable {
  /** In the order of their records. */
  readonly parts: readonly LogPart[];
  /** `null` when none of the named files has a head. */
  readonly head: HeadText | null;
  readonly #named: { readonly folder: Directory; readonly name: string }[] = [];
  readonly #open: Disposable[] = [];

  /** Finds the named files and the full files beside each of them. Throws `STORAGE_FAILED` when a name has no file. */
  constructor(paths: readonly string[]) {
    try {
      for (const { root, name } of paths.map(placeOf)) {
        const folder = root.open() ?? noFile();
        this.#open.push(folder);
        this.#named.push({ folder, name });
      }
      // Reads the head before the records: a runtime that writes meanwhile only adds records after this head.
      this.head = this.headNow();
      // By file identity, so a file that is named twice or renamed meanwhile is read only once.
      const parts = new Map(this.#named.flatMap(({ folder, name }) => this.#partsOf(folder, name)));
      this.parts = [...parts.values()].toSorted((a, b) => a.firstSeq - b.firstSeq);
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  /** Reads the head as it is now. After all files were read, it must be at most one record behind the log. */
  headNow(): HeadText | null {
    for (const { folder, name } of this.#named) {
      using file = findLogFile(folder, headNameOf(name));
      if (file) return readHead(file);
    }
    return null;
  }

  #partsOf(folder: Directory, name: string): [identity: string, part: LogPart][] {
    // Opened before the full files are listed, and kept open: it can become full at any time.
    const live = findLogFile(folder, name);
    if (live) this.#open.push(live);
    const parts = fullFilesOf(folder, name).map((full): [string, LogPart] => {
      const open = (): DiskFile => findLogFile(folder, full.name) ?? noFile();
      using file = open();
      return [file.identity, { name: full.name, firstSeq: firstSeqOf(file) ?? full.firstSeq, open }];
    });
    if (live) parts.push([live.identity, { name, firstSeq: firstSeqOf(live) ?? Infinity, open: () => live }]);
    return parts.length === 0 ? noFile() : parts;
  }

  [Symbol.dispose](): void {
    for (const each of this.#open) each[Symbol.dispose]();
  }
}

function noFile(): never {
  throw new ToolError("STORAGE_FAILED", "Cannot read the audit log: there is no such file");
}
