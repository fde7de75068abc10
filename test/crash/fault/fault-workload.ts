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
import { isOfStores, stepOf } from "../homes/step.ts";
import type { Step } from "../homes/step.ts";
import { storesBetween } from "../homes/stores.ts";
import { takeStep } from "../homes/subject.ts";
import type { StorePlace } from "../homes/subject.ts";
import { boots, filesOn, openPlace, stagedOn, subjects } from "../homes/subjects.ts";
import { leftCode } from "../homes/switched-runtime.ts";
import { readTree } from "../homes/tree.ts";
import type { Files } from "../homes/tree.ts";
import { bootOf, isUpkeep, numberOfStep, prepare, takeSteps } from "../kill/scenario.ts";
import type { Scenario } from "../kill/scenario.ts";
import { scenarios } from "../kill/scenarios.ts";
import { unlike } from "../model/expected-memory.ts";
import { traceProcess } from "../strace.ts";
import { fileCalls, systemCalls } from "../syscall-log.ts";
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

const ofOwnFiles = /^EIO \d+: statx\(\d+<[^>]*\/\.memcell>|^EACCES \d+: openat\(.*\.memcell\/journal\/\d+\.log>/;

/** Which of the failures are tried. */
export const parts = {
  all: (injections: readonly Injection[]) => [...injections],
  sample: (injections: readonly Injection[]) => oneIn(Math.ceil(injections.length / 16), injections),
  others: (injections: readonly Injection[]) => othersIn(Math.ceil(injections.length / 32), 2, injections),
  /** The host's own folder cannot be looked at, also after files are staged; a segment of the journal may not be opened. */
  ownFiles: (injections: readonly Injection[]) => injections.filter(({ text }) => ofOwnFiles.test(text)),
};

const [folder = "", name = "", part = "all"] = process.argv.slice(2) as [string?, string?, (keyof typeof parts)?];
const scenario = scenarios.find((each) => each.name === name) as Scenario;
const [subject, boot] = [subjects[scenario.of], bootOf(scenario)];
const [template, dataDir] = [join(folder, "template"), join(folder, "data")];

/** A lock that was left behind exceeds this wait. What is done with a long journal in the background takes far less. */
const waitMs = 5000;

const codes: readonly unknown[] = ["STORAGE_FULL", "STORAGE_FAILED", "STORAGE_BUSY", "STORAGE_UNSAFE"];

const isForbidden = (failing: string): boolean => failing.startsWith("EACCES ");

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
    const code = codeOf(error);
    if (code === null) acknowledged++;
    else failed[code] = (failed[code] ?? 0) + 1;
    const faults = leaked === 0 ? [] : [`${leaked} descriptors were left open`];
    const states = await statesAfter(suffered, { text: injection.text, step, after });
    faults.push(...(await faultsAfterFailure(suffered, injection.text, states)));
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
  readonly before: Files;
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
  const place = openPlace(dataDir, boot, { durability: scenario.durability ?? "full" });
  await takeSteps(scenario.of, place, scenario.warm ?? []);
  const before = filesOn(subject, dataDir);
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

interface StatesAfter {
  /** One of them is there at once. */
  readonly allowed: readonly Files[];
  /** What is done then. */
  readonly next: Step;
  /** What must be there then, if it is known. */
  readonly wanted: Files | null;
}

/** An operation of a runtime can happen in spite of an error: done again it ends as without the failure. */
async function statesAfter(
  { place, before, error }: Suffered,
  { text, step, after }: { readonly text: string; readonly step: Step; readonly after: Files },
): Promise<StatesAfter> {
  if (step.do !== "gate") {
    const isDone = error === null || isUpkeep(scenario);
    // Of several stores, those before the failure are changed.
    const between = isOfStores(step) ? storesBetween(before, after, step).slice(0, -1) : [];
    const allowed = isDone ? [after] : [before, ...between];
    return { allowed, next: subject.callAfterCrash(0, 0), wanted: null };
  }
  const states = await statesOf(place.host, { tree: readTree(template), boot }, step);
  // Without a record of it, only this process knows that the run is trusted less.
  const mayBeUndone = error !== null || isForbidden(text) || step.act === "read";
  // What an approval has committed counts, also if its record cannot be removed: it is noted, and goes later.
  const done = [...(step.act === "approve" ? states.during : []), states.after];
  const allowed = mayBeUndone ? [filesOn(subject, template), ...states.during, states.after] : done;
  return { allowed, next: step, wanted: states.after };
}

/** The same store continues on a disk that works again, and then one of a later start. */
async function faultsAfterFailure(
  { place, error }: Suffered,
  text: string,
  { allowed, next, wanted }: StatesAfter,
): Promise<string[]> {
  const isOfGate = next.do === "gate";
  if (isOfGate && (codeOf(error) === leftCode || hasLostVersions())) return [];
  const faults = error === null ? [] : faultsOfError(error, text);
  const compare = (when: string, states: readonly Files[]): void =>
    void faults.push(...unlike(states, filesOn(subject, dataDir)).map((each) => `${when}: ${each}`));
  if (error !== null && !isOfGate && !isUpkeep(scenario))
    compare("after the error", [fileByFile(allowed, filesOn(subject, dataDir))]);
  const thrown = await takeStep(subject, place, { do: "look" }, { waitMs }).catch(String);
  if (thrown) return [...faults, `the store is of no use afterwards: ${thrown}`];
  compare("in the next call", allowed);
  await takeStep(subject, place, next, { number: 10, waitMs });
  if (wanted !== null) compare("done again", [wanted]);
  faults.push(...stagedOn(subject, dataDir));
  const left = filesOn(subject, dataDir);
  const later = openPlace(dataDir, boots[2]);
  await takeStep(subject, later, { do: "look" }, { waitMs });
  await later.store.close();
  compare("after a restart", [left]);
  await place.store.close();
  return faults;
}

/** Of several stores, one before the failure may be changed in its log alone: each file is as in one of the states. */
function fileByFile(states: readonly Files[], found: Files): Files {
  const keys = new Set([...states, found].flatMap((files) => Array.from(files.keys())));
  const expected = Array.from(keys, (key): [string, string | undefined] => {
    const text = found.get(key);
    return [key, states.some((files) => files.get(key) === text) ? text : states[0]?.get(key)];
  });
  return new Map(expected.flatMap(([key, text]) => (text === undefined ? [] : [[key, text] as const])));
}

/** `failing`: the call that has failed, after its error. A process with too few descriptors can try again. */
function faultsOfError(error: unknown, failing: string): string[] {
  const { code, message: text, name: kind } = error as { code?: unknown; message: string; name: string };
  // A record that the host may not open is left out, as one that is damaged: nothing waits then.
  if (scenario.of === "gate" && isForbidden(failing) && code === "ENTRY_NOT_FOUND") return [];
  const allowed = failing.startsWith("EMFILE ") ? ["STORAGE_BUSY"] : codes;
  const faults = kind === "ToolError" && allowed.includes(code) ? [] : [`the error is ${kind} ${String(code)}`];
  const isTelling = text.includes(dataDir) || /\/proc|users\/|stores\/|\bE[A-Z]{3,}\b/.test(text);
  return isTelling ? [...faults, `it says ${text}`] : faults;
}

/** A history that the host may not open counts as damaged. The doctor tells it, and no file of it is trusted. */
function hasLostVersions(): boolean {
  const journal = join(dataDir, "users/alice/.memcell/journal");
  const segments = existsSync(journal) ? readdirSync(journal).filter((each) => each.endsWith(".log")) : [];
  return segments.some((each) => readFileSync(join(journal, each), "latin1").includes('"mark":"lost"'));
}

function codeOf(error: unknown): string | null {
  return error === null ? null : String((error as { code?: unknown }).code);
}

/** Does not count the descriptor that reads the list. */
function openDescriptors(): number {
  return readdirSync("/proc/self/fd").length - 1;
}
