/**
 * A process whose disk fails under a whole runtime: as `fault-workload.ts`, for operations that need one. After an error
 * the operation has happened as a whole or not at all, and done again it ends as without the failure. Only calls of the
 * main thread and flushes fail: threads that run guests only read.
 */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { hostFolder } from "../host-under-test.ts";
import { differences } from "../model/expected-memory.ts";
import type { Files } from "../model/expected-memory.ts";
import { gate } from "../model/gate-operation.ts";
import type { GateOperation } from "../model/gate-operation.ts";
import { gateSubject, runtimeOf } from "../model/gate-subject.ts";
import { loadHost } from "../model/host.ts";
import { settings } from "../model/standing-clock.ts";
import type { StoreUnderTest } from "../model/subject.ts";
import { leftCode } from "../model/switched-runtime.ts";
import { readTree } from "../model/tree.ts";
import type { Tree } from "../model/tree.ts";
import { traceProcess } from "../strace.ts";
import { fileCalls, systemCalls } from "../syscall-log.ts";
import { faultsOfError } from "./after-fault.ts";
import type { FaultReport } from "./fault-workload.ts";
import { gateScenarios } from "./gate-scenarios.ts";
import type { GateScenario } from "./gate-scenarios.ts";
import { injectionsFor } from "./injections.ts";
import type { Injection } from "./injections.ts";

const boot = "first start";

const [folder = "", name = "", every = "1"] = process.argv.slice(2);
const { before, operation } = gateScenarios.find((each) => each.name === name) as GateScenario;
const template = join(folder, "template");
const dataDir = join(folder, "data");
const host = await loadHost(hostFolder);
const runtime = await runtimeOf(host);

await prepare();
process.stdout.write(JSON.stringify(await sweep()));
process.exit(0);

async function prepare(): Promise<void> {
  const store = openStore(template);
  runtime.switchTo({ store, path: template });
  for (const each of before) await runtime.perform(each);
  await store.close();
}

async function sweep(): Promise<FaultReport> {
  const injections = await injectionsOf();
  const tried = injections.filter((_, at) => at % Number(every) === 0);
  const failed: Record<string, number> = {};
  const problems: FaultReport["problems"][number][] = [];
  let acknowledged = 0;
  for (const [at, injection] of tried.entries()) {
    const { code, faults } = await suffer(injection, at);
    if (code === null) acknowledged++;
    else failed[code] = (failed[code] ?? 0) + 1;
    if (faults.length > 0) problems.push({ at: `${injection.text} (${code ?? "acknowledged"})`, faults });
  }
  return { injections: injections.length, tried: tried.length, acknowledged, failed, problems };
}

async function injectionsOf(): Promise<Injection[]> {
  const log = join(folder, "log");
  const options = ["-y", "-o", log, "-e", `trace=${fileCalls.join(",")}`];
  await whileTraced("all", options, operationOf("rehearsal"));
  return injectionsFor(systemCalls(readFileSync(log, "utf8"), process.pid));
}

async function suffer(injection: Injection, at: number): Promise<{ code: string | null; faults: string[] }> {
  const asked = operationOf(`${at}`);
  const from = treeNow(template);
  const states = await gateSubject.statesOf?.(host, { tree: from, boot }, asked);
  if (states === undefined) throw new TypeError("Nothing says how the operation ends");
  const { store, error, leaked } = await whileTraced(injection.threads, injection.options, asked);
  const faults = leaked === 0 ? [] : [`${leaked} descriptors were left open`];
  const code = error === null ? null : String((error as { code?: unknown }).code);
  const isToldToOwner = code === leftCode || hasHistoryAside();
  // A record that the host may not open is left out, as one that is damaged: nothing waits then.
  const isForbidden = injection.text.startsWith("EACCES ");
  const isNoFailure = isToldToOwner || (isForbidden && code === "ENTRY_NOT_FOUND");
  if (error !== null && !isNoFailure) faults.push(...faultsOfError(error, dataDir));
  if (isToldToOwner) return { code, faults };
  faults.push(...(await look(store)));
  // Without a record of it, only this process knows that the run is trusted less.
  const mayBeUndone = error !== null || isForbidden || asked.act === "read";
  // What an approval has committed counts, also if its record cannot be removed: it is noted, and goes later.
  const isNoted = asked.act === "approve" ? states.during : [];
  const done = [...isNoted, states.after];
  const allowed = mayBeUndone ? [gateSubject.filesIn(from), ...states.during, states.after] : done;
  faults.push(...unlike("afterwards", allowed));
  await runtime.perform(asked);
  await store.close();
  faults.push(...unlike("done again", [states.after]), ...leftIn(dataDir));
  const later = openStore(dataDir, "a later start");
  faults.push(...(await look(later)));
  await later.close();
  faults.push(...unlike("after a restart", [states.after]));
  return { code, faults };
}

interface Suffered {
  readonly store: StoreUnderTest;
  readonly error: unknown;
  readonly leaked: number;
}

/** Does the operation in a fresh folder while strace is attached. */
async function whileTraced(
  threads: "main" | "all",
  options: readonly string[],
  asked: GateOperation,
): Promise<Suffered> {
  rmSync(dataDir, { recursive: true, force: true });
  if (existsSync(template)) cpSync(template, dataDir, { recursive: true });
  const store = openStore(dataDir);
  runtime.switchTo({ store, path: dataDir });
  const descriptors = openDescriptors();
  const tracing = await traceProcess(process.pid, threads, options);
  const error: unknown = await runtime.perform(asked).then(
    () => null,
    (thrown: unknown) => thrown ?? new Error("nothing was thrown"),
  );
  // It keeps a session for the next call.
  await store.close();
  await tracing.detach();
  return { store, error, leaked: openDescriptors() - descriptors };
}

/** What a run has read is remembered in the process: each time another one reads. */
function operationOf(run: string): GateOperation {
  return operation.act === "read" ? gate("read", operation.name, `run-${run}`) : operation;
}

/** What is wrong in the history, if anything is. */
async function look(store: StoreUnderTest): Promise<string[]> {
  const options = { writes: true, until: performance.now() + 5_000 };
  const thrown = await gateSubject
    .hold(store, options, () => Promise.resolve())
    .catch((error: unknown) => String(error));
  return thrown === undefined ? [] : [thrown];
}

function treeNow(path: string): Tree {
  return existsSync(path) ? readTree(path) : new Map();
}

function unlike(when: string, allowed: readonly Files[]): string[] {
  const found = gateSubject.filesIn(treeNow(dataDir));
  const wrong = allowed.map((files) => differences({ name: "", files, edits: new Map() }, found, "as made"));
  return wrong.every((each) => each.length > 0) ? wrong.flat().map((each) => `${when}: ${each}`) : [];
}

/** A history that the host may not open counts as damaged. The doctor tells it, and no file of it is trusted. */
function hasHistoryAside(): boolean {
  const own = join(dataDir, "users/alice/.memcell");
  return existsSync(own) && readdirSync(own).some((each) => each.startsWith("history-damaged-"));
}

function leftIn(path: string): string[] {
  return gateSubject.stagedIn(treeNow(path)).map((each) => `${each} was left behind`);
}

function openStore(path: string, start = boot): StoreUnderTest {
  return new host.FileStore(new host.DiskRoot(path), { durability: "full", note: () => {}, settings }, start);
}

/** Does not count the descriptor that reads the list. */
function openDescriptors(): number {
  return readdirSync("/proc/self/fd").length - 1;
}
