/**
 * The thread's side of a call. It may be killed at any instant, so it only reads the store; what the guest wants to
 * change goes back as a change set.
 */
import { MessageChannel, parentPort, workerData } from "node:worker_threads";
import type { MessagePort } from "node:worker_threads";

import { fuelConfigKey } from "../../shared/abi.ts";
import type { Envelope } from "../../shared/envelope.ts";
import { threadLimits } from "../../shared/limits.ts";
import type { PluginError } from "../../shared/manifest.ts";
import { CapabilityTrail } from "../audit/collect/capability-trail.ts";
import { stampStart } from "../audit/collect/trail-memory.ts";
import { bindCapabilities } from "../guest/capabilities/bind-capabilities.ts";
import type { CapabilityRecord } from "../guest/capabilities/bind-capabilities.ts";
import { StagedChanges } from "../guest/capabilities/staged-changes.ts";
import type { GuestConfig, GuestEnvironment, GuestInstance, GuestOutcome } from "../guest/extism-plugin.ts";
import type { Grant } from "../guest/grant.ts";
import type { GuestModule } from "../guest/guest-module.ts";
import { InstanceStock } from "../guest/instance-stock.ts";
import { judgeOutcome } from "../guest/judge-outcome.ts";
import { GuestLog } from "../guest/kernel-functions.ts";
import type { LogLine } from "../log/log-entry.ts";
import { openReaders } from "../store/open-readers.ts";
import type { ReadBridge, StoreLocation, StoreReaders } from "../store/store.ts";
import type { Seen, SizedChange } from "../values/change-set.ts";
import { asToolError } from "../values/tool-error.ts";
import { envelopeOf } from "../values/tool-result.ts";

/** What every call of a pool has in common. */
export interface WorkerSetup {
  /** The codes that the manifest of each module's plugin declares. */
  readonly errors: readonly (readonly PluginError[])[];
  /** `restored`: a thread's instance serves call after call, put back before each. `fresh`: each call has its own. */
  readonly instances: "restored" | "fresh";
  readonly store: StoreLocation;
  /** Less fuel than the manifests give. */
  readonly fuelPolls?: number;
}

/** What a thread asks when it begins, while they may still be compiled: where it takes the modules, once. */
export interface ModulesRequest {
  readonly modulesTo: MessagePort;
}

/** What a thread asks before its first read, where the main side reads for it: who takes this end of its bridge. */
export interface BridgeRequest {
  readonly bridgeTo: ReadBridge;
}

export interface WorkerTask {
  readonly toolName: string;
  /** Which of the modules holds the tool, and under which export. */
  readonly moduleIndex: number;
  readonly exportName: string;
  /** JSON text: the host does not look into it. */
  readonly input: string;
  readonly grant: Grant;
  readonly epochMs: number;
  /** What the guest is to find done already. It is committed together with what the guest does. */
  readonly before?: readonly SizedChange[];
  /** Where to write down when the thread has begun, and what the guest does. */
  readonly trail: SharedArrayBuffer;
}

export interface WorkerReply {
  readonly envelope: Envelope;
  /** Empty unless the envelope is a success. */
  readonly changes: readonly SizedChange[];
  /** The files that the guest has read. */
  readonly seen: readonly Seen[];
  readonly log: readonly LogLine[];
  /** Polls of its fuel that the guest has used; `null` when it did not run or does not tell. */
  readonly fuelPolls: number | null;
}

export default async function runTask(task: WorkerTask): Promise<WorkerReply> {
  stampStart(task.trail);
  const log = new GuestLog();
  try {
    return await runGuest(task, log);
  } catch (error) {
    const failure = asToolError(error, `run ${task.toolName}`);
    log.addCause(failure.cause);
    return { envelope: envelopeOf(failure), changes: [], seen: [], log: log.lines, fuelPolls: null };
  }
}

async function runGuest(task: WorkerTask, log: GuestLog): Promise<WorkerReply> {
  const { toolName, moduleIndex, exportName, input, grant, epochMs, before, trail } = task;
  const { errors: declared } = workerData as WorkerSetup;
  hasTask = true;
  const module = (await modules)[moduleIndex];
  if (module === undefined) throw new RangeError(`No module ${moduleIndex} in this worker`);
  const staged = new StagedChanges(before);
  const record: CapabilityRecord = { denial: null, reported: new Set(), causes: [] };
  using reader = readers().openUser(grant.userId, grant.scopes);
  const parts = { grant, store: reader, staged, epochMs };
  const capabilities = bindCapabilities(parts, record, new CapabilityTrail(trail));
  const { outcome, fuelPolls } = await runPlugin(module, exportName, input, { capabilities, log });
  const envelope = judgeOutcome({ toolName, errors: declared[moduleIndex] ?? [] }, outcome, record);
  for (const cause of record.causes) log.addCause(cause);
  if (outcome.kind === "trap") log.addCause(outcome.cause);
  const changes = envelope.ok ? staged.toChangeSet() : [];
  return { envelope, changes, seen: reader.seen, log: log.lines, fuelPolls };
}

let opened: StoreReaders | undefined;

/** Opened by the first call, so that a store which cannot be opened is an error of calls and not of threads. */
function readers(): StoreReaders {
  opened ??= openReaders((workerData as WorkerSetup).store, connect);
  return opened;
}

function connect(): ReadBridge {
  const { port1: own, port2: port } = new MessageChannel();
  const signal = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  parentPort?.postMessage({ bridgeTo: { port, signal } } satisfies BridgeRequest, [port]);
  return { port: own, signal };
}

const stock = new InstanceStock(
  configOf(workerData as WorkerSetup),
  (workerData as WorkerSetup).instances === "restored",
);
let hasTask = false;
const modules = receiveModules();
void modules.then((all) => setTimeout(() => prepare(all), threadLimits.quietMs).unref());

/** Compiled modules are shared by all threads. */
function receiveModules(): Promise<readonly GuestModule[]> {
  const { port1: own, port2: modulesTo } = new MessageChannel();
  parentPort?.postMessage({ modulesTo } satisfies ModulesRequest, [modulesTo]);
  return new Promise((resolve) => {
    own.once("message", (all: readonly GuestModule[]) => {
      own.close();
      resolve(all);
    });
  });
}

/** A thread that was begun for a call has its work to do, and which plugin it is for is known then. */
function prepare(all: readonly GuestModule[]): void {
  if (hasTask) return;
  for (const module of all.slice(0, threadLimits.instancesMax)) stock.refillSoon(module, null);
}

/** What guests are told. A prototype would make "constructor" one of the keys. */
function configOf({ fuelPolls }: WorkerSetup): GuestConfig {
  const config = Object.create(null) as Record<string, string>;
  if (fuelPolls !== undefined) config[fuelConfigKey] = String(fuelPolls);
  return config;
}

async function runPlugin(
  module: GuestModule,
  exportName: string,
  input: string,
  environment: GuestEnvironment,
): Promise<{ outcome: GuestOutcome; fuelPolls: number | null }> {
  let instance: GuestInstance | null = null;
  try {
    instance = await stock.take(module);
    const outcome = await instance.run(exportName, input, environment);
    return { outcome, fuelPolls: instance.fuelPollsUsed };
  } catch (cause) {
    return { outcome: { kind: "trap", cause, isMemoryFull: false }, fuelPolls: null };
  } finally {
    // The pool sends the answer first: the caller does not wait for the next call's instance.
    stock.refillSoon(module, instance);
  }
}
