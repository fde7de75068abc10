/**
 * A process to be killed: takes some steps, prints "ready", waits for a line, takes one more step and prints
 * "acknowledged" as soon as the store has answered.
 */
import { writeSync, writevSync } from "node:fs";

import { runtimeOf } from "../homes/gate.ts";
import { takeStep } from "../homes/subject.ts";
import { openPlace, subjects } from "../homes/subjects.ts";
import { numberOfStep, takeSteps } from "./scenario.ts";
import type { Workload } from "./scenario.ts";

const { dataDir, of, boot, warm, step, durability, closes } = JSON.parse(process.argv[2] ?? "") as Workload;
const place = openPlace(dataDir, boot, { durability });
await takeSteps(of, place, warm);
if (of === "gate") await (await runtimeOf(place.host)).start(place);

process.stdin.once("data", () => void finish());
writeSync(1, "ready\n");

async function finish(): Promise<void> {
  await takeStep(subjects[of], place, step, { number: numberOfStep });
  // Two pieces make this a `writev`, which nothing else calls. The number of `write` calls differs from run to run,
  // because Node also wakes its threads with them.
  writevSync(1, [Buffer.from("acknowledged"), Buffer.from("\n")]);
  if (closes) await place.store.close();
  process.exit(0);
}
