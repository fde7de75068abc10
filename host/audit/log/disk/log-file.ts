import { closeSync, fstatSync, fsyncSync, ftruncateSync } from "node:fs";

import { failureOfDisk } from "../../../disk/disk-failure.ts";
import { tryFileLock } from "../../../disk/native-calls.ts";
import { readFrom, writeFrom } from "../../../disk/pinned-file.ts";
import { ToolError } from "../../../values/tool-error.ts";

/** An open plain file. A closed one refuses every use, because the operating system reuses closed descriptors. */
export class LogFile implements Disposable {
  readonly identity: string;
  #descriptor: number | null;

  constructor(descriptor: number, identity: string) {
    this.#descriptor = descriptor;
    this.identity = identity;
  }

  get descriptor(): number {
    if (this.#descriptor === null) throw new RangeError("The file is closed");
    return this.#descriptor;
  }

  size(): number {
    return attempt("read", () => fstatSync(this.descriptor).size);
  }

  /** Reads into `bytes` from offset `at`. Returns the number of bytes read, which is less at the end of the file. */
  read(at: number, bytes: Uint8Array): number {
    return attempt("read", () => readFrom(this.descriptor, at, bytes));
  }

  write(at: number, bytes: Uint8Array): void {
    attempt("write", () => writeFrom(this.descriptor, at, bytes));
  }

  truncate(bytes: number): void {
    attempt("write", () => ftruncateSync(this.descriptor, bytes));
  }

  flush(): void {
    attempt("flush", () => fsyncSync(this.descriptor));
  }

  /** Takes the kernel's lock if it is free. The lock ends when this descriptor is closed. */
  tryLock(): boolean {
    return attempt("lock", () => tryFileLock(this, "exclusive"));
  }

  [Symbol.dispose](): void {
    if (this.#descriptor === null) return;
    const descriptor = this.#descriptor;
    this.#descriptor = null;
    closeSync(descriptor);
  }
}

/** Turns a failure of the disk into a failure of the log. The disk's own error stays in `cause`. */
export function attempt<Result>(action: "open" | "lock" | "read" | "write" | "flush", work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    const failure = failureOfDisk(error, `${action} the audit log`);
    // The store's own messages begin with words about the user's folder.
    const reason = failure.message.slice(failure.message.indexOf(": ") + 2);
    const cause = failure.cause ?? error;
    throw new ToolError(failure.tableCode, `Cannot ${action} the audit log: ${reason}`, { cause });
  }
}
