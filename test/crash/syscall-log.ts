/** The system calls of a process, read from strace's output and numbered like strace's `when=`. */

export interface SystemCall {
  readonly name: string;
  /** The number of this call among those of its name and thread, from 1. */
  readonly ordinal: number;
  readonly isMainThread: boolean;
  /** strace's line without the thread. */
  readonly text: string;
}

/** The main thread changes files, and at the end of the process flushes them. Before, a pool of one thread does that. */
export function systemCalls(log: string, mainThread: number): SystemCall[] {
  const counts = new Map<string, number>();
  const calls: SystemCall[] = [];
  for (const line of log.split("\n")) {
    const found = /^(\d+) +(([a-z0-9_]+)\(.*)$/.exec(line);
    if (!found) continue;
    const [, thread = "", text = "", name = ""] = found;
    const isMainThread = Number(thread) === mainThread;
    if (!isMainThread && !isFlush(name)) continue;
    const ordinal = (counts.get(`${name} ${isMainThread}`) ?? 0) + 1;
    counts.set(`${name} ${isMainThread}`, ordinal);
    calls.push({ name, ordinal, isMainThread, text });
  }
  return calls;
}

export const isFlush = (name: string): boolean => name === "fsync" || name === "fdatasync";

/** The threads to follow for a call. */
export const threadsOf = ({ isMainThread }: Pick<SystemCall, "isMainThread">): "main" | "all" =>
  isMainThread ? "main" : "all";

/**
 * The kinds of calls on files that the store makes. `write` and `read` are not among them: Node wakes its threads with
 * those, not in every run as often, so they could not be counted.
 */
export const fileCalls: readonly string[] = (
  "openat mkdir rmdir rename renameat2 unlink writev pwrite64 ftruncate fsync fdatasync fcntl close " +
  "pread64 getdents64 fstat statx newfstatat lstat stat"
).split(" ");

/**
 * Whether a call has an effect: on the disk, on a lock, or on the reader of the answer. A kill before any other call
 * leaves the same state as one after the last such call.
 */
export function isChange({ name, text }: SystemCall): boolean {
  switch (name) {
    case "openat":
      return text.includes("O_CREAT");
    case "writev":
      return text.startsWith("writev(1<");
    case "fcntl":
    case "close":
      return /\/\.memcell\/(lock|turnstile)>/.test(text);
    default:
      return /^(mkdir|rmdir|rename|renameat2|unlink|pwrite64|ftruncate|fsync|fdatasync)$/.test(name);
  }
}
