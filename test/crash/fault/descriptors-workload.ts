/**
 * A process that has almost no descriptors left: it makes a call with none, with one, with two, until there are enough.
 * Run it under a low limit. Prints how each call ended and the faults, as JSON.
 */
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";

import { recreate, upsert } from "../homes/step.ts";
import type { Step } from "../homes/step.ts";
import { takeStep } from "../homes/subject.ts";
import { boots, filesOn, nothingKept, openPlace, subjects } from "../homes/subjects.ts";
import { takeSteps } from "../kill/scenario.ts";
import { faultsAfterFailure, openDescriptors, walInodes } from "./after-fault.ts";

export interface DescriptorsReport {
  /** By the number of free descriptors: the error's code, or `null` when the call was acknowledged. */
  readonly codes: readonly (string | null)[];
  readonly problems: readonly { readonly free: number; readonly faults: readonly string[] }[];
}

const [folder = ""] = process.argv.slice(2);
const { user: subject } = subjects;
const facts = ["a", "b"].map((name) => upsert(name, "as it was"));
const step = recreate("a", "new");

const after = filesOn(subject, await prepared("rehearsal", [...facts, step]));
const codes: (string | null)[] = [];
const problems: DescriptorsReport["problems"][number][] = [];
for (let free = 0; free === 0 || codes.at(-1) !== null; free++) {
  const { code, faults } = await callWith(free);
  codes.push(code);
  if (faults.length > 0) problems.push({ free, faults });
}
process.stdout.write(JSON.stringify({ codes, problems } satisfies DescriptorsReport));
process.exit(0);

async function callWith(free: number): Promise<{ code: string | null; faults: string[] }> {
  const path = await prepared(`${free}`, facts);
  // A session that is kept for another call has descriptors, too.
  const place = openPlace(path, boots[0], { kept: nothingKept });
  const before = { files: filesOn(subject, path), wals: walInodes(path) };
  const count = openDescriptors();
  const taken = takeAllBut(free);
  const error: unknown = await takeStep(subject, place, step, { number: 3 }).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  for (const descriptor of taken) closeSync(descriptor);
  const leaked = openDescriptors() - count;
  const faults = leaked === 0 ? [] : [`${leaked} descriptors were left open`];
  faults.push(...(await faultsAfterFailure({ log: "", subject, place, error, before, after, isUpkeep: false })));
  return { code: error === null ? null : String((error as { code?: unknown }).code), faults };
}

function takeAllBut(free: number): number[] {
  const taken: number[] = [];
  try {
    for (;;) taken.push(openSync("/dev/null", "r"));
  } catch {
    for (const descriptor of taken.splice(-free, free)) closeSync(descriptor);
    return taken;
  }
}

async function prepared(name: string, steps: readonly Step[]): Promise<string> {
  const place = openPlace(join(folder, name), boots[0]);
  await takeSteps("user", place, steps);
  await place.store.close();
  return place.path;
}
