/** Sample entries of every kind, numbered so that they can be told apart. */
import type { AuditEntry, CallEntry, RefusedEntry } from "../stage/audit-log.ts";

const ofCall = (count: number) => ({ callId: `call-${count}`, userId: `user-${count % 7}`, tool: "UpdateUserMemory" });

const plugin = { name: "user-memory", version: "0.1.0", sha256: "a".repeat(64) };

export function callEntry(count: number, more: Partial<CallEntry> = {}): CallEntry {
  return {
    kind: "call",
    ...ofCall(count),
    plugin,
    scopes: ["memory"],
    rights: ["read", "write"],
    reads: [{ scope: "memory", path: "MEMORY.md", bytes: null }],
    lists: [{ scope: "memory", prefix: "", files: 0 }],
    writes: [{ scope: "memory", path: `fact-${count}.md`, bytes: count }],
    trashed: [],
    removed: [],
    usesNotShown: 0,
    usesDenied: 0,
    usesFailed: 0,
    changes: "committed",
    code: null,
    fuelPolls: 3,
    durationMs: count + 0.5,
    ...more,
  };
}

export function useEntry(count: number): AuditEntry {
  return {
    kind: "use",
    ...ofCall(count),
    capability: "store_write",
    scope: "memory",
    path: `../../${count}`,
    code: "CAPABILITY_DENIED",
  };
}

/** About 20 KB, so that few of them fill a file. */
export function longEntry(count: number): CallEntry {
  const reads = Array.from({ length: 64 }, (_, at) => ({
    scope: "memory",
    path: `${"long-".repeat(49)}${at}`,
    bytes: at,
  }));
  return callEntry(count, { reads });
}

export function stagedEntry(count: number): AuditEntry {
  const file = { scope: "memory", path: `fact-${count}.md`, bytes: count };
  return {
    kind: "staged",
    ...ofCall(count),
    writes: [file],
    trashed: [{ ...file, trashed: "trash/a.md" }],
    removed: [],
  };
}

export function refusedEntry(more: Partial<RefusedEntry> = {}): RefusedEntry {
  return { kind: "refused", surface: "http", reason: "token-expired", userId: null, peer: null, times: 1, ...more };
}
