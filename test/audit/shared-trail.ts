/** A call's trail in shared memory, as the host has it; and, as a thread, a guest's host that writes one until it is closed. */
import { isMainThread, parentPort } from "node:worker_threads";

import { CapabilityTrail, closeTrail, newTrail, TotalUses, viewsOf, words } from "../../host/audit/collect/trail.ts";
import type { Trail } from "../../host/audit/collect/trail.ts";
import { bindCapabilities } from "../../host/guest/capabilities/bind-capabilities.ts";
import { StagedChanges } from "../../host/guest/capabilities/guest-call.ts";

export { bindCapabilities, CapabilityTrail, closeTrail, newTrail, StagedChanges, words };

/** What is in a closed trail. */
export function readTrail(trail: Trail) {
  const uses = new TotalUses();
  const refusals = uses.add(trail);
  const { reads, lists, writes, trashed, notShown, changesNotShown, denied, failed } = uses;
  return {
    reads: [...reads.values()],
    lists: [...lists.values()],
    writes,
    trashed,
    refusals,
    notShown,
    changesNotShown,
    denied,
    failed,
  };
}

if (!isMainThread) {
  parentPort?.on("message", (memory: unknown) => {
    if (!(memory instanceof SharedArrayBuffer)) return;
    const trail = new CapabilityTrail(viewsOf(memory));
    let answered = -1;
    do {
      answered++;
      trail.read("memory", `${answered}.md`, answered);
    } while (!trail.isClosed);
    // oxlint-disable-next-line require-post-message-target-origin -- a thread has no origin
    parentPort?.postMessage(answered);
  });
}
