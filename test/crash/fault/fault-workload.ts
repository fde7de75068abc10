/**
 * A process whose disk fails: it rehearses a scenario, then repeats it, each time in a fresh folder and with another
 * system call failing. strace is attached to it during one step. Prints the faults as JSON.
 *
 * usage: node fault-workload.js FOLDER SCENARIO EVERY, where EVERY takes each so many-th of the failures
 */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { areas } from "../areas.ts";
import type { Scenario } from "../kill/scenario.ts";
import { scenarios } from "../kill/scenarios.ts";
import { takeStep } from "../memory-steps.ts";
import { DiskRoot, FileStore } from "../store-under-test.ts";
import { traceProcess } from "../strace.ts";
import { fileCalls, systemCalls } from "../syscall-log.ts";
import { filesOf } from "../user-state.ts";
import type { Files } from "../user-state.ts";
import { faultsAfterFailure, walInodes } from "./after-fault.ts";
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

const [folder = "", name = "", every = "1"] = process.argv.slice(2);
const scenario = scenarios.find((each) => each.name === name) as Scenario;
const area = areas[scenario.area ?? "user"];
const template = join(folder, "template");

await scenario.prepare(template);
process.stdout.write(JSON.stringify(await sweep()));
process.exit(0);

async function sweep(): Promise<FaultReport> {
  const { calls, after } = await rehearse(join(folder, "rehearsal"));
  const failed: Record<string, number> = {};
  const problems: FaultReport["problems"][number][] = [];
  const dataDir = join(folder, "data");
  const injections = injectionsFor(calls);
  const tried = injections.filter((_, at) => at % Number(every) === 0);
  let acknowledged = 0;
  for (const injection of tried) {
    rmSync(dataDir, { recursive: true, force: true });
    copyTemplate(dataDir);
    const { code, faults } = await suffer(injection, dataDir, after);
    if (code === null) acknowledged++;
    else failed[code] = (failed[code] ?? 0) + 1;
    if (faults.length > 0) problems.push({ at: `${injection.text} (${code ?? "acknowledged"})`, faults });
  }
  return { injections: injections.length, tried: tried.length, acknowledged, failed, problems };
}

async function suffer(
  injection: Injection,
  dataDir: string,
  after: Files,
): Promise<{ code: string | null; faults: string[] }> {
  const descriptors = openDescriptors();
  const store = openStore(dataDir);
  for (const each of scenario.warm) await takeStep(store, each);
  const before = { files: filesOf(dataDir), wals: walInodes(dataDir) };
  const tracing = await traceProcess(process.pid, injection.threads, injection.options);
  const error: unknown = await takeStep(store, scenario.step, 0).then(
    () => null,
    (thrown: unknown) => thrown ?? new Error("nothing was thrown"),
  );
  await store.close();
  await tracing.detach();
  const leaked = openDescriptors() - descriptors;
  const faults = leaked === 0 ? [] : [`${leaked} descriptors were left open`];
  const found = { injection, store, dataDir, error, before, after, isUpkeep: scenario.isUpkeep === true, area };
  faults.push(...(await faultsAfterFailure(found)));
  return { code: error === null ? null : String((error as { code?: unknown }).code), faults };
}

async function rehearse(dataDir: string): Promise<{ calls: ReturnType<typeof systemCalls>; after: Files }> {
  copyTemplate(dataDir);
  const store = openStore(dataDir);
  for (const each of scenario.warm) await takeStep(store, each);
  const log = join(folder, "log");
  const options = ["-y", "-o", log, "-e", `trace=${fileCalls.join(",")}`];
  const tracing = await traceProcess(process.pid, "all", options);
  await takeStep(store, scenario.step);
  await store.close();
  await tracing.detach();
  return { calls: systemCalls(readFileSync(log, "utf8"), process.pid), after: filesOf(dataDir) };
}

function openStore(dataDir: string): InstanceType<typeof FileStore> {
  return new FileStore(new DiskRoot(dataDir), { durability: "full", note: () => {} }, scenario.boot);
}

/** Does not count the descriptor that reads the list. */
function openDescriptors(): number {
  return readdirSync("/proc/self/fd").length - 1;
}

function copyTemplate(to: string): void {
  if (existsSync(template)) cpSync(template, to, { recursive: true });
}
