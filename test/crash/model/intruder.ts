import type { Subject } from "../homes/subject.ts";
import { readTree, treeKey } from "../homes/tree.ts";
import type { Host } from "../store-under-test.ts";
import { presentTree } from "./crash-states.ts";
import type { Recording } from "./recording.ts";

/**
 * Another process that comes during the flush of a WAL, when a change set is staged and not yet applied. It must not
 * get the lock, and must change nothing.
 */
export function letIntrude(
  host: Host,
  subject: Subject,
  recording: Recording,
  path: string,
): { problem: string | null } {
  const found: { problem: string | null } = { problem: null };
  recording.meanwhile = async (name) => {
    if (name !== "journal") return;
    recording.meanwhile = null;
    const store = new host.FileStore(new host.DiskRoot(path), { durability: "full", note: () => {} }, "boot-1.0");
    const hold = subject.hold(store, { writes: true, until: performance.now() }, () => Promise.resolve());
    const outcome = await hold.then(
      () => "was let in",
      (error: unknown) => (error instanceof Error && "code" in error ? String(error.code) : "failed"),
    );
    const isAsBefore = treeKey(presentTree(recording.disk)) === treeKey(readTree(path));
    if (outcome === "BUSY" && isAsBefore) return;
    found.problem = `another process, while a WAL was flushed: ${outcome}, ${isAsBefore ? "" : "not "}harmless`;
  };
  return found;
}
