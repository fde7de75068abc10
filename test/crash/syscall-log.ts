/** Which system calls a process has made, read from what strace has written, numbered as strace's `when=` counts. */

export interface SystemCall {
  readonly name: string;
  /** The how manieth call of this name it is in its thread, from 1. */
  readonly ordinal: number;
  /** As strace writes it, without the thread. */
  readonly text: string;
}

/** Files are changed by the main thread, and flushed by the only thread of the pool. */
export function systemCalls(log: string, mainThread: number): SystemCall[] {
  const counts = new Map<string, number>();
  const calls: SystemCall[] = [];
  for (const line of log.split("\n")) {
    const found = /^(\d+) +(([a-z0-9_]+)\(.*)$/.exec(line);
    if (!found) continue;
    const [, thread = "", text = "", name = ""] = found;
    if (Number(thread) !== mainThread && !isFlush(name)) continue;
    const ordinal = (counts.get(name) ?? 0) + 1;
    counts.set(name, ordinal);
    calls.push({ name, ordinal, text });
  }
  return calls;
}

export const isFlush = (name: string): boolean => name === "fsync" || name === "fdatasync";

/** Who has to be followed to meet a call of this name. */
export const threadsOf = (name: string): "main" | "all" => (isFlush(name) ? "all" : "main");

/** The calls that touch files, of the kinds that the store makes. */
export const fileCalls: readonly string[] = (
  "openat mkdir rename renameat2 unlink write writev pwrite64 ftruncate fsync fdatasync fcntl close " +
  "pread64 read getdents64 fstat statx newfstatat lstat stat"
).split(" ");

/**
 * Whether a call leaves something behind: on the disk, in a lock, or with whoever waits for an answer. Before any other,
 * all is as after the last such.
 */
export function isChange({ name, text }: SystemCall): boolean {
  switch (name) {
    case "openat":
      return text.includes("O_CREAT");
    case "write":
      return text.includes("/users/");
    case "writev":
      return text.startsWith("writev(1<");
    case "fcntl":
    case "close":
      return /\/\.memcell\/(lock|turnstile)>/.test(text);
    default:
      return /^(mkdir|rename|renameat2|unlink|pwrite64|ftruncate|fsync|fdatasync)$/.test(name);
  }
}
