/** A thread that records uses until its trail is closed, and reports how many it would have answered. */
import { parentPort } from "node:worker_threads";

import { CapabilityTrail } from "../../host/audit/collect/capability-trail.ts";
import { viewsOf } from "../../host/audit/collect/trail-memory.ts";

parentPort?.on("message", (memory: SharedArrayBuffer) => {
  const trail = new CapabilityTrail(viewsOf(memory));
  let answered = -1;
  do {
    answered++;
    trail.read("memory", `${answered}.md`, answered);
  } while (!trail.isClosed);
  // oxlint-disable-next-line require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(answered);
});
