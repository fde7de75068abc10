/** Creates runtimes. */
import { queueLimits } from "../../shared/limits.ts";
import type { AuditLog, AuditLogOptions } from "../audit/audit-log.ts";
import type { PluginIdentity } from "../audit/audit-record.ts";
import { Measures } from "../audit/collect/open-telemetry.ts";
import { Recorder } from "../audit/collect/record.ts";
import type { AuditLogParts } from "../audit/log/open-audit-log.ts";
import { Admission } from "../call/admission.ts";
import { CallRunner } from "../call/call.ts";
import type { CallRunnerParts } from "../call/call.ts";
import { Listeners } from "../call/listeners.ts";
import { RunTrust } from "../gate/runs.ts";
import { failureLine } from "../log/failure-line.ts";
import type { LogEntry } from "../log/log-entry.ts";
import { writeLog } from "../log/write-log.ts";
import { finishLeftOver } from "../owner/finish-erased.ts";
import { LastAnswers } from "../owner/last-answers.ts";
import { choosePlugins } from "../plugins/bundled-plugins.ts";
import type { Besides } from "../plugins/bundled-plugins.ts";
import { judgeCatalog } from "../plugins/catalog.ts";
import type { JudgedCatalog, JudgedPlugin, OnLeftOut } from "../plugins/catalog.ts";
import { loweredFuel } from "../plugins/lowered-fuel.ts";
import { narrowingText } from "../plugins/narrow-plugin.ts";
import { loadPolicy } from "../plugins/policy/load-policy.ts";
import type { Policy } from "../plugins/policy/policy.ts";
import { readOnlyText } from "../plugins/tools.ts";
import type { NoteOfUser, StoreDefinition, StoreSettings } from "../store/definition.ts";
import { Store } from "../store/store.ts";
import { Pool } from "../thread/pool.ts";
import { version } from "../values/version.ts";
import type { Runtime } from "./api.ts";
import { LocalRuntime } from "./local-runtime.ts";
import type { RuntimeOptions } from "./options.ts";
import { checkOptions } from "./runtime-options.ts";
import type { CheckedOptions } from "./runtime-options.ts";

/**
 * Loads plugins and starts a thread that runs them.
 *
 * Rejects with `PLUGIN_REFUSED` if a file is not exactly what its manifest says or not the one that the policy pins, if
 * it requests more than a strict policy grants, or if the policy cannot be used; with `BUSY`, `STORAGE_UNSAFE`,
 * `STORAGE_FULL`, `STORAGE_BUSY` or `STORAGE_FAILED` if the audit log cannot be opened; with `STORAGE_FAILED` if files
 * cannot be locked on this system; with `INTERNAL` if a file of the package is missing; and with a `TypeError` or
 * `RangeError` for invalid options, also for an option that there is not, with the nearest name.
 *
 * @example
 * const runtime = await createRuntime({ dataDir: "data" });
 * await runtime.close();
 */
export async function createRuntime(options: RuntimeOptions): Promise<Runtime> {
  return await createRuntimeWith(options, {});
}

/** What only the `memcell` command decides. */
export interface Creation {
  /** Plugins of the package that are needed besides those that the options name: certain ones, or all. Default: none. */
  readonly besides?: Besides;
  /** How long to wait while another runtime writes the audit log. Default: for `waitMs`. */
  readonly logWait?: { readonly waitMs?: number; readonly signal?: AbortSignal };
}

/** As `createRuntime`. */
export async function createRuntimeWith(options: RuntimeOptions, creation: Creation): Promise<Runtime> {
  const { besides = [], logWait } = creation;
  const checked = checkOptions(options);
  const { store: definition, threadsMax, clock, onLog, waitMs, instances, fuelPolls, readOnly, ...bounds } = checked;
  const measures = new Measures(bounds.meterProvider);
  const { policy, catalog } = await loadCatalog(checked, besides);
  // Before any thread starts, so that a store that cannot be opened leaves no thread behind.
  const note = (userId: string, text: string): void =>
    writeLog(onLog, { level: "warn", tool: "store", userId, callId: "", text });
  const store = await openStore(definition, { note, readOnly, settings: { history: policy.history, clock } });
  const errors = catalog.plugins.map(({ manifest }) => manifest.errors ?? []);
  const modules = Promise.all(catalog.plugins.map(({ guest }) => guest));
  // The pool starts before the modules are compiled: a thread takes longer to start than a module to compile.
  const pool = new Pool(
    { errors, instances, store: definition.location, ...loweredFuel(policy.limits, fuelPolls) },
    {
      modules,
      threadsMax,
      isWarm: bounds.warmThreads,
      answerReads: definition.answerReads,
      onThreads: (count) => measures.threads(count),
      onError: (error) => noteDeadThread(onLog, error),
    },
  );
  const identities = catalog.plugins.map(identityOf);
  const logParts = { isAmongUsers: definition.holdsFile, plugins: identities, policy: policy.sha256, waitMs, onLog };
  const log = await modules
    .then(() => openRuntimeLog(bounds.auditLog, { ...logParts, ...logWait }))
    .catch(async (error: unknown) => {
      await pool.close();
      throw error;
    });
  const { queuedCallsMax: calls, queuedCallsPerUserMax: callsPerUser } = bounds;
  const waitingLimits = { calls, callsPerUser, bytes: queueLimits.bytesMax };
  const deadlineMs = Math.min(policy.limits.deadlineMs, bounds.deadlineMs ?? Infinity);
  const deadlinesMs = catalog.plugins.map(({ manifest }) => Math.min(manifest.deadlineMs, deadlineMs));
  const { limits } = policy;
  const listeners = new Listeners(onLog);
  const recorder = new Recorder({ log, onLog, measures });
  const admission = new Admission(waitMs, waitingLimits, { measures, listeners, onLog });
  const { contextualAccess, memory } = bounds;
  const called = { clock, onLog, identities, deadlinesMs, limits, contextualAccess: contextualAccess ?? null };
  const parts = { store, pool, admission, recorder, listeners, ...called, ...gateParts(checked) };
  const model = memory?.sharingByModels === true ? "sharing-model" : "model";
  const { closeGraceMs, retiresLeftOver } = bounds;
  if (retiresLeftOver && !readOnly) void Promise.all([store.retireLeftOver(), finishLeftOver(store, admission)]);
  const runner = new CallRunner(parts);
  const runtime = new LocalRuntime(catalog, {
    ...parts,
    runner,
    model,
    closeGraceMs,
    isReadOnly: false,
    answers: new LastAnswers(),
    isAmongUsers: definition.holdsFile,
  });
  return readOnly ? runtime.asReadOnly() : runtime;
}

async function openStore(
  definition: StoreDefinition,
  {
    note,
    settings,
    readOnly,
  }: { readonly note: NoteOfUser; readonly settings: StoreSettings; readonly readOnly: boolean },
): Promise<Store> {
  await definition.checkMedium?.();
  const engine = definition.open(note, settings);
  return new Store(engine, readOnly);
}

function gateParts({
  onWrite,
  clock,
  onLog,
}: CheckedOptions): Pick<CallRunnerParts, "onWrite" | "onWriteFailure" | "runTrust"> {
  // As often as it fails, its writes wait: a line a minute tells it.
  const onWriteFailure = (error: unknown): void => {
    const line = { ...failureLine(error), topic: "onWrite" };
    writeLog(onLog, { ...line, tool: "onWrite", userId: "", callId: "" });
  };
  return { onWrite: onWrite ?? null, onWriteFailure, runTrust: new RunTrust(clock) };
}

/** Judges the plugins, and logs what is taken away: nothing else would say why a tool is missing. */
async function loadCatalog(options: CheckedOptions, besides: Besides): Promise<LoadedCatalog> {
  const { store, readOnly, onLog } = options;
  const note = (entry: Note): void => writeLog(onLog, { ...entry, userId: "", callId: "" });
  const policy = await loadPolicy(options.policy);
  const files = await choosePlugins(options.plugins, besides);
  const catalog = await judgeCatalog(files, policy, besides === "all" ? noteLeftOut(note) : undefined);
  for (const each of catalog.narrowings) {
    note({ level: "warn", tool: "policy", text: `${each.family}: ${narrowingText(each)}` });
  }
  const { all, notLoaded } = catalog.tools;
  const tools = all.map(({ tool }) => tool);
  store.checkTools?.(tools, (scope) => notLoaded.hintForScope(scope));
  if (readOnly) note({ level: "info", tool: "read-only", text: readOnlyText(catalog.tools) });
  return { policy, catalog };
}

interface LoadedCatalog {
  readonly policy: Policy;
  readonly catalog: JudgedCatalog;
}

type Note = Pick<LogEntry, "level" | "tool" | "text">;

/** Maintenance goes on without a plugin that cannot be loaded, but not silently. */
function noteLeftOut(note: (entry: Note) => void): OnLeftOut {
  return ({ message }) =>
    note({ level: "warn", tool: "plugins", text: `${message}; the content of its files is not looked after` });
}

/** Logs why a thread died between calls. The pool replaces it. */
function noteDeadThread(onLog: (entry: LogEntry) => void, error: unknown): void {
  writeLog(onLog, { ...failureLine(error), tool: "thread", userId: "", callId: "" });
}

const identityOf = ({ manifest, sha256 }: JudgedPlugin): PluginIdentity => ({
  name: manifest.name,
  version: manifest.version,
  sha256,
});

type RuntimeLogParts = Pick<AuditLogParts, "isAmongUsers" | "plugins" | "policy" | "waitMs" | "signal"> & {
  readonly onLog: (entry: LogEntry) => void;
};

/** Opens the audit log if the options name one. Throws as `openAuditLog` does. */
async function openRuntimeLog(
  options: Required<AuditLogOptions> | null,
  { onLog, ...parts }: RuntimeLogParts,
): Promise<AuditLog | null> {
  if (options === null) return null;
  const note = (text: string): void => writeLog(onLog, { level: "warn", tool: "log", userId: "", callId: "", text });
  // Imported on demand: the log is half of the code that a runtime loads.
  const { openAuditLog } = await import("../audit/log/open-audit-log.ts");
  return await openAuditLog(options, { ...parts, memcell: version, note });
}
