/**
 * The worker thread's part of a call. The thread can be terminated at any moment, so it only reads the store; the
 * guest's changes go back to the main thread as a change set.
 */
import { MessageChannel, parentPort, workerData } from "node:worker_threads";
import type { MessagePort } from "node:worker_threads";

import { fuelConfigKey, showsConfigKey } from "../../shared/abi.ts";
import type { Envelope } from "../../shared/envelope.ts";
import { threadLimits } from "../../shared/limits.ts";
import type { PluginError } from "../../shared/manifest.ts";
import { CapabilityTrail, stampStart, viewsOf } from "../audit/collect/trail.ts";
import type { Trail } from "../audit/collect/trail.ts";
import { bindCapabilities } from "../guest/capabilities/bind-capabilities.ts";
import type { CapabilityRecord } from "../guest/capabilities/bind-capabilities.ts";
import { StagedChanges, canChange } from "../guest/capabilities/guest-call.ts";
import type { Grant } from "../guest/capabilities/guest-call.ts";
import { ReachedStores } from "../guest/capabilities/reached-stores.ts";
import type { Wanted } from "../guest/capabilities/reached-stores.ts";
import { InstanceStock } from "../guest/extism-plugin.ts";
import type { GuestConfig, GuestEnvironment, GuestInstance, GuestOutcome } from "../guest/extism-plugin.ts";
import type { GuestModule } from "../guest/guest-module.ts";
import { GuestLog } from "../guest/host-functions.ts";
import { judgeOutcome } from "../guest/judge-outcome.ts";
import { causeLines, failureLine } from "../log/failure-line.ts";
import type { LogLine } from "../log/log-entry.ts";
import type { ReadBridge, StoreLocation } from "../store/definition.ts";
import { openReaders } from "../store/open-readers.ts";
import type { Handed, KnownSizes, StoreReaders } from "../store/reading.ts";
import type { Seen, SizedChange } from "../values/change-set.ts";
import type { StoreGrant } from "../values/store-grant.ts";
import { ToolError, asToolError } from "../values/tool-error.ts";
import { envelopeOf } from "../values/tool-result.ts";

/** The settings that all calls of a pool share. */
export interface WorkerSetup {
  /** The codes that the manifest of each module's plugin declares. */
  readonly errors: readonly (readonly PluginError[])[];
  /** `restored`: an instance serves many calls and is restored before each. `fresh`: each call has a new instance. */
  readonly instances: "restored" | "fresh";
  readonly store: StoreLocation;
  /** Lowers the fuel that manifests give. */
  readonly fuelPolls?: number;
}

/** Sent when a thread begins, perhaps before the modules are compiled: the port on which it receives them once. */
export interface ModulesRequest {
  readonly modulesTo: MessagePort;
}

/** Sent before a thread's first read if the main thread reads for it: the main thread's end of the bridge. */
export interface BridgeRequest {
  readonly bridgeTo: ReadBridge;
}

export interface WorkerTask {
  readonly toolName: string;
  /** The module that contains the tool; `exportName` is the tool's export in it. */
  readonly moduleIndex: number;
  readonly exportName: string;
  /** JSON text, which the host does not parse. */
  readonly input: string;
  readonly grant: Grant;
  readonly epochMs: number;
  /** Whether `seen` is wanted even if the call changes nothing. */
  readonly notesSeen?: boolean;
  /** Changes that the guest's reads see as done. They are committed together with the guest's changes. */
  readonly before?: readonly SizedChange[];
  /** Sizes of scopes that need not be measured. */
  readonly knownSizes?: KnownSizes;
  readonly handed?: Handed | null;
}

/** A thread's first task. It ends when the thread can run others. */
export interface ThreadStart {
  /** Where the thread records when it begins a task, and what the guest does. */
  readonly trail: SharedArrayBuffer;
}

export interface WorkerReply {
  readonly envelope: Envelope;
  /** What a plugin says that its answer shows, as `placeIn` names files; `null` if it has not said it. */
  readonly shows: readonly string[] | null;
  /** Empty unless the envelope is a success. */
  readonly changes: readonly SizedChange[];
  /** The files that the guest has read. */
  readonly seen: readonly Seen[];
  /** The sizes of scopes that were measured or given, before the changes. */
  readonly knownSizes: KnownSizes;
  /** The new grants of the user's own store; `null` if the guest has not changed them, or has failed. */
  readonly grants: readonly StoreGrant[] | null;
  /** Set if the host has to decide about more stores and run the call again. Then nothing else counts. */
  readonly wanted: Wanted | null;
  readonly log: readonly LogLine[];
  /** Fuel polls that the guest has used; `null` if it did not run or does not report them. */
  readonly fuelPolls: number | null;
}

export default async function runTask(task: WorkerTask | ThreadStart): Promise<WorkerReply | null> {
  if ("trail" in task) {
    trail = viewsOf(task.trail);
    return await modules.then(() => null);
  }
  stampStart(ownTrail());
  const log = new GuestLog();
  try {
    return await runGuest(task, log);
  } catch (error) {
    const failure = asToolError(error, `run ${task.toolName}`);
    log.addOfHost(causeLines(failure));
    const nothing = { shows: null, changes: [], seen: [], knownSizes: {}, grants: null, wanted: null };
    return { envelope: envelopeOf(failure), ...nothing, log: log.lines, fuelPolls: null };
  }
}

async function runGuest(task: WorkerTask, log: GuestLog): Promise<WorkerReply> {
  const { toolName, moduleIndex, exportName, input, grant, epochMs, before = [], knownSizes, handed } = task;
  const { errors: declared } = workerData as WorkerSetup;
  hasTask = true;
  const module = (await modules)[moduleIndex];
  if (module === undefined) throw new RangeError(`No module ${moduleIndex} in this worker`);
  const staged = new StagedChanges(before);
  const record: CapabilityRecord = { denial: null, reported: new Set(), causes: [] };
  const notesSeen =
    grant.stores !== undefined || canChange(grant) || before.length > 0 || (task.notesSeen === true && "contents");
  using reader = readers().open(grant.stores ? null : grant.userId, grant.scopes, { knownSizes, handed, notesSeen });
  const reached = grant.stores && new ReachedStores(grant.stores, epochMs);
  const parts = { grant, store: reader, staged, epochMs, reached };
  const noted = new CapabilityTrail(ownTrail());
  const capabilities = bindCapabilities(parts, record, noted);
  const { refuels } = grant.limits;
  const environment = { capabilities, log, isEnded: () => noted.isClosed, refuels };
  const { outcome, fuelPolls } = await runPlugin(module, { exportName, toolName }, input, environment);
  const { envelope, shows } = judgeOutcome({ toolName, errors: declared[moduleIndex] ?? [] }, outcome, record);
  for (const failure of record.causes) log.addOfHost(causeLines(failure));
  if (outcome.kind === "trap" && outcome.cause !== undefined) log.addOfHost([failureLine(outcome.cause)]);
  const changes = envelope.ok ? staged.toChangeSet() : [];
  const { seen, knownSizes: measured } = reader;
  const ofStores = { grants: (envelope.ok && reached?.grants) || null, wanted: reached?.wanted ?? null };
  return { envelope, shows, changes, seen, knownSizes: measured, ...ofStores, log: log.lines, fuelPolls };
}

let trail: Trail | undefined;

function ownTrail(): Trail {
  if (trail === undefined) throw new RangeError("A thread's first task brings its trail");
  return trail;
}

let opened: StoreReaders | undefined;

/** Opened by the first call, so that a store that cannot be opened fails the calls and not the threads. */
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

/** Receives the compiled modules, which all threads share. */
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

/** Prepares instances in advance. Skipped if the thread already has a task: that task prepares its own plugin. */
function prepare(all: readonly GuestModule[]): void {
  if (hasTask) return;
  for (const module of all.slice(0, threadLimits.instancesMax)) stock.refillSoon(module, null);
}

/** The configuration for guests. Has no prototype, or "constructor" would be one of its keys. */
function configOf({ fuelPolls }: WorkerSetup): GuestConfig {
  const config = Object.create(null) as Record<string, string>;
  config[showsConfigKey] = "1";
  if (fuelPolls !== undefined) config[fuelConfigKey] = String(fuelPolls);
  return config;
}

async function runPlugin(
  module: GuestModule,
  { exportName, toolName }: Pick<WorkerTask, "exportName" | "toolName">,
  input: string,
  environment: GuestEnvironment,
): Promise<{ outcome: GuestOutcome; fuelPolls: number | null }> {
  let instance: GuestInstance | null = null;
  try {
    instance = await stock.take(module);
    const outcome = await instance.run(exportName, input, environment);
    return { outcome, fuelPolls: instance.fuelPollsUsed };
  } catch (cause) {
    // No code of the guest has run: the engine could not reserve its memory.
    if (instance === null && cause instanceof RangeError) throw noMemory(toolName, cause);
    return { outcome: { kind: "trap", cause, isMemoryFull: false }, fuelPolls: null };
  } finally {
    // The answer is sent first, so the caller does not wait for the next call's instance.
    stock.refillSoon(module, instance);
  }
}

function noMemory(toolName: string, cause: RangeError): ToolError {
  const reason = "the machine has no memory for the plugin, or limits the address space too low (ulimit -v)";
  return new ToolError("INTERNAL", `Cannot call ${toolName}: ${reason}`, { cause });
}
