/** A call's trail in shared memory, as the host has it; and, as a thread, a guest's host that writes one until it is closed. */
import { isMainThread, parentPort } from "node:worker_threads";

import { CapabilityTrail } from "../../host/audit/collect/capability-trail.ts";
import { readTrail } from "../../host/audit/collect/read-trail.ts";
import { closeTrail, newTrail, viewsOf, words } from "../../host/audit/collect/trail-memory.ts";
import { bindCapabilities } from "../../host/guest/capabilities/bind-capabilities.ts";
import { StagedChanges } from "../../host/guest/capabilities/staged-changes.ts";

export { bindCapabilities, CapabilityTrail, closeTrail, newTrail, readTrail, StagedChanges, words };

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
