/**
 * The open folder of an audit log. Only the modules in this folder access the log's files: they follow no link in a
 * file's place, never block on a pipe or device, and open only plain files with one name.
 */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  statSync,
} from "node:fs";
import { basename, dirname } from "node:path";

import { isMissing } from "../../../disk/disk-failure.ts";
import {
  checkDescriptors,
  handleKindHere,
  identityOf,
  makeFolderIn,
  openRootFolder,
} from "../../../disk/folder-handle.ts";
import type { FolderHandle } from "../../../disk/folder-handle.ts";
import { identityAt } from "../../../disk/leads-into.ts";
import { checkPlainFile, openNew, openOrMake } from "../../../disk/pinned-file.ts";
import { ToolError } from "../../../values/tool-error.ts";
import { attempt, LogFile } from "./log-file.ts";

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
const open = {
  read: (_folder: FolderHandle, path: string): number => openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK),
  make: openOrMake,
  makeNew: openNew,
};

export class LogFolder implements Disposable {
  readonly #path: string;
  readonly #handle: FolderHandle;

  private constructor(path: string, handle: FolderHandle) {
    this.#path = path;
    this.#handle = handle;
  }

  /** Opens a folder by its absolute path. The operator may use a link there. */
  static open(path: string): LogFolder {
    return attempt("open", () => {
      if (handleKindHere === "descriptor") checkDescriptors();
      return new LogFolder(path, openRootFolder(path, handleKindHere));
    });
  }

  /** Whether the folder's path still leads to it. */
  isInPlace(): boolean {
    return attempt("open", () => {
      const facts = statSync(this.#path, { bigint: true, throwIfNoEntry: false });
      return facts !== undefined && identityOf(facts) === this.#handle.identity;
    });
  }

  /** The identity and size of the file with a name; `null` when there is none. Follows no link. */
  facts(name: string): { readonly identity: string; readonly bytes: number } | null {
    return attempt("open", () => {
      const facts = lstatSync(this.#handle.child(name), { bigint: true, throwIfNoEntry: false });
      return facts ? { identity: identityOf(facts), bytes: Number(facts.size) } : null;
    });
  }

  /** Opens a file. `make` opens an existing file or creates it; `makeNew` only creates it. */
  openFile(name: string, use: keyof typeof open, bytesMax: number = Number.MAX_SAFE_INTEGER): LogFile {
    return attempt("open", () => {
      const path = this.#handle.child(name);
      const descriptor = open[use](this.#handle, path);
      try {
        const facts = fstatSync(descriptor, { bigint: true });
        checkPlainFile(facts, name, bytesMax);
        this.#handle.checkOpened(path, facts);
        return new LogFile(descriptor, identityOf(facts));
      } catch (error) {
        closeSync(descriptor);
        throw error;
      }
    });
  }

  /** Opens a file for reading; returns `null` when it does not exist. */
  findFile(name: string): LogFile | null {
    try {
      return this.openFile(name, "read");
    } catch (error) {
      if (error instanceof ToolError && isMissing(error.cause)) return null;
      throw error;
    }
  }

  names(): string[] {
    return attempt("open", () => readdirSync(this.#handle.itself()));
  }

  /** Throws if the new name is taken. Only a process that ignores the lock could take it after this check. */
  rename(name: string, newName: string): void {
    if (this.facts(newName) !== null) {
      throw new ToolError("STORAGE_UNSAFE", "Cannot write the audit log: the name for its full file is taken");
    }
    attempt("write", () => renameSync(this.#handle.child(name), this.#handle.child(newName)));
  }

  /** Makes the folder's names durable. Windows needs no flush: its journal holds the names. */
  flush(): void {
    if (process.platform !== "win32") attempt("flush", () => fsyncSync(this.#handle.descriptor));
  }

  [Symbol.dispose](): void {
    this.#handle[Symbol.dispose]();
  }
}

/** Creates a folder and those above it, with access for their owner only. */
export function makeFolders(path: string): void {
  if (identityAt(path) !== null) return;
  // Not `recursive`: below some mount points Node's own recursion never ends.
  if (dirname(path) !== path) makeFolders(dirname(path));
  attempt("open", () => {
    using above = openRootFolder(dirname(path), handleKindHere);
    makeFolderIn(above, basename(path));
  });
}
