/** One user of the naive way, with its own thread and folder. */
import { parentPort, workerData } from "node:worker_threads";

import { NaiveFolder } from "../entry.ts";
import { entriesCount, workFor } from "./crowds.ts";

const folder = new NaiveFolder((workerData as { folder: string }).folder);
let turn = 0;
const upsert = (): void => {
  folder.upsert(turn % entriesCount, Math.floor(turn / entriesCount));
  turn++;
};

// Creates the entries, so that only replacements are measured.
for (let entry = 0; entry < entriesCount; entry++) upsert();

parentPort?.on("message", async (windowMs: number) => parentPort?.postMessage(await workFor(windowMs, upsert), []));
