/** One user of the naive way, with its own thread and folder. */
import { parentPort, workerData } from "node:worker_threads";

import { NaiveFolder } from "../naive-upsert.ts";
import { entriesCount } from "./user-work.ts";
import type { Window, Worked } from "./user-work.ts";

const folder = new NaiveFolder((workerData as { folder: string }).folder);
let turn = 0;
const upsert = (): void => {
  folder.upsert(turn % entriesCount, Math.floor(turn / entriesCount));
  turn++;
};

// Creates the entries, so that only replacements are measured.
for (let entry = 0; entry < entriesCount; entry++) upsert();

parentPort?.on("message", ({ windowMs }: Window) => {
  const times: number[] = [];
  const startMs = performance.now();
  let nowMs = startMs;
  while (nowMs - startMs < windowMs) {
    const beganMs = nowMs;
    upsert();
    nowMs = performance.now();
    times.push(nowMs - beganMs);
  }
  const worked: Worked = { times, elapsedMs: nowMs - startMs };
  parentPort?.postMessage(worked, []);
});
