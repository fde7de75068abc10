/**
 * A process whose disk fails: it rehearses a scenario, then repeats it, each time in a fresh folder and with another
 * system call failing. strace is attached to it during one step. Prints the faults as JSON. Under a runtime only calls of
 * the main thread and flushes fail: threads that run guests only read.
 *
 * usage: node fault-workload.js FOLDER SCENARIO PART
 */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { oneIn, othersIn } from "../../stage/seed.ts";
import { runtimeOf, statesOf } from "../homes/gate.ts";
import { stepOf } from "../homes/step.ts";
import type { GateOperation, Step } from "../homes/step.ts";
import { takeStep } from "../homes/subject.ts";
import type { StorePlace } from "../homes/subject.ts";
import { filesOn, openPlace, stagedOn, subjects } from "../homes/subjects.ts";
import { leftCode } from "../homes/switched-runtime.ts";
import { readTree } from "../homes/tree.ts";
import type { Files } from "../homes/tree.ts";
import { bootOf, isUpkeep, numberOfStep, prepare, takeSteps } from "../kill/scenario.ts";
import type { Scenario } from "../kill/scenario.ts";
import { scenarios } from "../kill/scenarios.ts";
import { unlike } from "../model/expected-memory.ts";
import { traceProcess } from "../strace.ts";
import { fileCalls, systemCalls } from "../syscall-log.ts";
import { faultsAfterFailure, faultsOfError, lookLater, openDescriptors, walInodes } from "./after-fault.ts";
import { injectionsFor } from "./injections.ts";
import type { Injection } from "./injections.ts";

export interface FaultReport {
  /** The number of possible failures. */
  readonly injections: number;
  readonly tried: number;
  /** How often the step succeeded despite the failure. */
  readonly acknowledged: number;
  /** How often it failed, by code. */
  readonly failed: Readonly<Record<string, number>>;
  readonly problems: readonly { readonly at: string; readonly faults: readonly string[] }[];
}

/** Which of the failures are tried. */
export const parts = {
  all: (injections: readonly Injection[]) => [...injections],
  sample: (injections: readonly Injection[]) => oneIn(Math.ceil(injections.length / 16), injections),
  others: (injections: readonly Injection[]) => othersIn(Math.ceil(injections.length / 32), 2, injections),
};

const [folder = "", name = "", part = "all"] = process.argv.slice(2) as [string?, string?, (keyof typeof parts)?];
const scenario = scenarios.find((each) => each.name === name) as Scenario;
const [subject, boot] = [subjects[scenario.of], bootOf(scenario)];
const [template, dataDir] = [join(folder, "template"), join(folder, "data")];

await prepare(scenario, template);
if (scenario.of === "gate") await startThreads();
process.stdout.write(JSON.stringify(await sweep()));
process.exit(0);

async function sweep(): Promise<FaultReport> {
  const options = ["-e", `trace=${fileCalls.join(",")}`];
  const rehearsal = await whileTraced({ threads: "all", options, text: "" }, stepIn("rehearsal"));
  const after = filesOn(subject, dataDir);
  const all = injectionsFor(systemCalls(rehearsal.log, process.pid));
  // A runtime finds the folder of the step by a link, which is the rig's.
  const injections = all.filter(({ text }) => !text.includes("/memcell-model-"));
  const tried = parts[part](injections);
  const failed: Record<string, number> = {};
  const problems: FaultReport["problems"][number][] = [];
  let acknowledged = 0;
  for (const [at, injection] of tried.entries()) {
    const step = stepIn(`${at}`);
    const suffered = await whileTraced(injection, step);
    const { error, leaked } = suffered;
    const code = error === null ? null : String((error as { code?: unknown }).code);
    if (code === null) acknowledged++;
    else failed[code] = (failed[code] ?? 0) + 1;
    const faults = leaked === 0 ? [] : [`${leaked} descriptors were left open`];
    const found =
      step.do === "gate"
        ? await faultsOfGate({ ...suffered, text: injection.text, step })
        : await faultsAfterFailure({ ...suffered, text: injection.text, subject, after, isUpkeep: isUpkeep(scenario) });
    faults.push(...found);
    if (faults.length > 0) problems.push({ at: `${injection.text} (${code ?? "acknowledged"})`, faults });
  }
  return { injections: injections.length, tried: tried.length, acknowledged, failed, problems };
}

/** Whatever they keep open is open before the first step. */
async function startThreads(): Promise<void> {
  const place = openPlace(join(folder, "started"), boot);
  await (await runtimeOf(place.host)).start(place);
  await place.store.close();
}

/** What a run has read is remembered in the process: each time another one reads. */
function stepIn(run: string): Step {
  const { step } = scenario;
  return step.do === "gate" && step.act === "read" ? stepOf(`read ${step.name} run-${run}`) : step;
}

interface Suffered {
  readonly place: StorePlace;
  readonly before: { readonly files: Files; readonly wals: ReturnType<typeof walInodes> };
  readonly error: unknown;
  readonly leaked: number;
  /** strace's. */
  readonly log: string;
}

/** Takes the step in a fresh folder while strace is attached. */
async function whileTraced({ threads, options }: Injection, step: Step): Promise<Suffered> {
  rmSync(dataDir, { recursive: true, force: true });
  cpSync(template, dataDir, { recursive: true });
  const descriptors = openDescriptors();
  const place = openPlace(dataDir, boot);
  await takeSteps(scenario.of, place, scenario.warm ?? []);
  const before = { files: filesOn(subject, dataDir), wals: walInodes(dataDir) };
  const log = join(folder, "log");
  const tracing = await traceProcess(process.pid, threads, ["-y", "-o", log, ...options]);
  const error: unknown = await takeStep(subject, place, step, { number: numberOfStep, waitMs: 0 }).then(
    () => null,
    (thrown: unknown) => thrown ?? new Error("nothing was thrown"),
  );
  // It keeps a session for the next call.
  await place.store.close();
  await tracing.detach();
  return { place, before, error, leaked: openDescriptors() - descriptors, log: readFileSync(log, "utf8") };
}

/** After an error the operation has happened as a whole or not at all, and done again it ends as without the failure. */
async function faultsOfGate({
  place,
  error,
  text,
  step,
}: Suffered & { readonly text: string; readonly step: GateOperation }): Promise<string[]> {
  const states = await statesOf(place.host, { tree: readTree(template), boot }, step);
  const code = error === null ? null : String((error as { code?: unknown }).code);
  const isToldToOwner = code === leftCode || hasHistoryAside();
  // A record that the host may not open is left out, as one that is damaged: nothing waits then.
  const isForbidden = text.startsWith("EACCES ");
  const isNoFailure = isToldToOwner || (isForbidden && code === "ENTRY_NOT_FOUND");
  const faults = error === null || isNoFailure ? [] : faultsOfError(error, text, dataDir);
  if (isToldToOwner) return faults;
  const thrown = await takeStep(subject, place, { do: "look" }, { waitMs: 5000 }).catch(String);
  if (thrown) return [...faults, thrown];
  const compare = (when: string, allowed: readonly Files[]): void =>
    void faults.push(...unlike(allowed, filesOn(subject, dataDir)).map((each) => `${when}: ${each}`));
  // Without a record of it, only this process knows that the run is trusted less.
  const mayBeUndone = error !== null || isForbidden || step.act === "read";
  // What an approval has committed counts, also if its record cannot be removed: it is noted, and goes later.
  const done = [...(step.act === "approve" ? states.during : []), states.after];
  compare("afterwards", mayBeUndone ? [filesOn(subject, template), ...states.during, states.after] : done);
  await takeStep(subject, place, step);
  await place.store.close();
  compare("done again", [states.after]);
  faults.push(...stagedOn(subject, dataDir));
  await lookLater(subject, dataDir);
  compare("after a restart", [states.after]);
  return faults;
}

/** A history that the host may not open counts as damaged. The doctor tells it, and no file of it is trusted. */
function hasHistoryAside(): boolean {
  const own = join(dataDir, "users/alice/.memcell");
  return existsSync(own) && readdirSync(own).some((each) => each.startsWith("history-damaged-"));
}
