/** Which system calls fail, and with which errors: those that disks, quotas and full tables cause. */
import { threadsOf } from "../syscall-log.ts";
import type { SystemCall } from "../syscall-log.ts";

export interface Injection {
  readonly threads: "main" | "all";
  /** Options for strace. */
  readonly options: readonly string[];
  /** The failing call and its error, for messages. */
  readonly text: string;
}

const errors: Readonly<Record<string, readonly string[]>> = {
  openat: ["EACCES", "EMFILE"],
  mkdir: ["ENOSPC", "EACCES", "EIO"],
  rename: ["ENOSPC", "EACCES", "EIO"],
  renameat2: ["EINVAL", "ENOSPC", "EIO"],
  unlink: ["EROFS", "EIO"],
  rmdir: ["EACCES", "EIO"],
  pwrite64: ["ENOSPC", "EIO"],
  ftruncate: ["EIO"],
  fsync: ["EIO", "ENOSPC"],
  fdatasync: ["EIO", "ENOSPC"],
  fcntl: ["ENOLCK"],
  pread64: ["EIO"],
  getdents64: ["EIO"],
  statx: ["EIO"],
};

/**
 * Each call of a rehearsal fails alone with each of its errors, and together with all later calls with one error.
 * `close` is excluded: strace would skip the call, so that the descriptor would stay open.
 */
export function injectionsFor(calls: readonly SystemCall[]): Injection[] {
  return calls.flatMap((call) => {
    const { name, ordinal, text } = call;
    const inject = (error: string, when: string): Injection => ({
      threads: threadsOf(call),
      options: ["-e", `trace=${name}`, "-e", `inject=${name}:error=${error}:when=${when}`],
      text: `${error} ${when}: ${text}`,
    });
    const kinds = errorsOf(call);
    const last = kinds.at(-1);
    return [...kinds.map((error) => inject(error, `${ordinal}`)), ...(last ? [inject(last, `${ordinal}+`)] : [])];
  });
}

function errorsOf({ name, text }: SystemCall): readonly string[] {
  const known = errors[name] ?? [];
  if (name === "fcntl" && !text.includes("F_OFD_SETLK")) return [];
  if (name !== "openat") return known;
  if (text.includes("O_CREAT")) return ["ENOSPC", ...known];
  return text.includes("O_RDWR") ? ["EROFS", ...known] : known;
}
