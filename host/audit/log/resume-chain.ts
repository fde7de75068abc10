import type { ChainHead } from "../audit-log.ts";
import type { AuditEntry } from "../audit-record.ts";
import type { HeadText } from "./head-file.ts";
import type { LogEnd } from "./log-end.ts";

/** How a log goes on that has been opened. */
export interface Resumption {
  /** What the next record follows; `null` when it is the first. */
  readonly last: ChainHead | null;
  readonly missing: number;
  readonly head: Extract<AuditEntry, { kind: "opened" }>["head"];
}

/**
 * Compares the end of a log with its head. Where they say different things the log goes on from the head, so that the gap
 * or the altered record stays visible in the chain for ever.
 *
 * A process may have been killed between the record and the head: then the head names the record before. `hashAt` finds
 * the hash of an earlier record; `null` when it is not there.
 */
export function resumeChain(found: LogEnd["last"], head: HeadText, hashAt: (seq: number) => string | null): Resumption {
  if (found === null) return resumeEmpty(head);
  const last = { seq: found.seq, hash: found.hash };
  if (head === "empty") return { last, missing: 0, head: found.seq === 0 ? "agrees" : "lost" };
  if (head === "unreadable") return { last, missing: 0, head: "lost" };
  if (head.seq > found.seq) return { last: head, missing: head.seq - found.seq, head: "agrees" };
  if (head.seq === found.seq) {
    return { last: head, missing: 0, head: head.hash === found.hash ? "agrees" : "differs" };
  }
  if (head.seq === found.seq - 1 && head.hash === found.prev) return { last, missing: 0, head: "agrees" };
  return { last, missing: 0, head: hashAt(head.seq) === head.hash ? "behind" : "differs" };
}

function resumeEmpty(head: HeadText): Resumption {
  if (head === "empty") return { last: null, missing: 0, head: "new" };
  if (head === "unreadable") return { last: null, missing: 0, head: "lost" };
  return { last: head, missing: head.seq + 1, head: "agrees" };
}
