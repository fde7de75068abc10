/**
 * A process that has almost no descriptors left: it makes a call with none, with one, with two, until there are enough.
 * Run it under a low limit. Prints how each call ended and the faults, as JSON.
 */
import { closeSync, openSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { areas } from "../areas.ts";
import { takeStep } from "../memory-steps.ts";
import type { Step } from "../memory-steps.ts";
import { DiskRoot, FileStore } from "../store-under-test.ts";
import { filesOf } from "../user-state.ts";
import { faultsAfterFailure, walInodes } from "./after-fault.ts";

export interface DescriptorsReport {
  /** By the number of free descriptors: the error's code, or `null` when the call was acknowledged. */
  readonly codes: readonly (string | null)[];
  readonly problems: readonly { readonly free: number; readonly faults: readonly string[] }[];
}

const [folder = ""] = process.argv.slice(2);
const facts: Step[] = ["a", "b"].map((name) => ({ kind: "upsert", name, text: "as it was" }));
const step: Step = { kind: "mend", name: "a", text: "new" };

const after = filesOf(await prepared("rehearsal", [...facts, step]));
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
  const dataDir = await prepared(`${free}`, facts);
  const store = openStore(dataDir);
  const before = { files: filesOf(dataDir), wals: walInodes(dataDir) };
  const count = openDescriptors();
  const taken = takeAllBut(free);
  const error: unknown = await takeStep(store, step).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  for (const descriptor of taken) closeSync(descriptor);
  const leaked = openDescriptors() - count;
  const faults = leaked === 0 ? [] : [`${leaked} descriptors were left open`];
  const injection = { threads: "main", options: [], text: `${free} free descriptors` } as const;
  faults.push(
    ...(await faultsAfterFailure({
      injection,
      store,
      dataDir,
      error,
      before,
      after,
      isUpkeep: false,
      area: areas.user,
    })),
  );
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
  const dataDir = join(folder, name);
  const store = openStore(dataDir);
  for (const each of steps) await takeStep(store, each);
  await store.close();
  return dataDir;
}

function openStore(dataDir: string): InstanceType<typeof FileStore> {
  // A session that is kept for another call has descriptors, too.
  const kept = { idleMs: 0, ageMs: 0, sessionsMax: 0 };
  return new FileStore(new DiskRoot(dataDir), { durability: "full", note: () => {}, kept });
}

/** Does not count the descriptor that reads the list. */
function openDescriptors(): number {
  return readdirSync("/proc/self/fd").length - 1;
}
