import { isAbsolute, join, resolve } from "node:path";

import type { FieldsOf } from "../../shared/known-fields.ts";
import { closingLimits, queueLimits } from "../../shared/limits.ts";
import type { AuditLogOptions } from "../audit/audit-log.ts";
import { limitedLog } from "../log/limited-log.ts";
import { defaultPlugins, isPluginName } from "../plugins/bundled-plugins.ts";
import type { StoreDefinition } from "../store/definition.ts";
import { fileStore } from "../store/files/define-files.ts";
import { isStoreDefinition } from "../store/open-readers.ts";
import { checkFields } from "../values/known-fields.ts";
import { checkAuditLogOptions } from "./audit-log-options.ts";
import type { RuntimeOptions } from "./options.ts";

/** Timers with a larger value would fire at once. */
const timerMsMax = 2 ** 31 - 1;

/** Options that are whole numbers from 1, with their maximums. Zero never means "none". */
const numbersMax = {
  threadsMax: Number.MAX_SAFE_INTEGER,
  waitMs: timerMsMax,
  deadlineMs: timerMsMax,
  fuelPolls: Number.MAX_SAFE_INTEGER,
  queuedCallsMax: Number.MAX_SAFE_INTEGER,
  queuedCallsPerUserMax: Number.MAX_SAFE_INTEGER,
  closeGraceMs: timerMsMax,
} as const satisfies Partial<Record<keyof RuntimeOptions, number>>;

const optionFields: FieldsOf<RuntimeOptions> = {
  store: true,
  dataDir: true,
  mounts: true,
  plugins: true,
  policy: true,
  readOnly: true,
  threadsMax: true,
  warmThreads: true,
  durability: true,
  waitMs: true,
  instances: true,
  deadlineMs: true,
  fuelPolls: true,
  queuedCallsMax: true,
  queuedCallsPerUserMax: true,
  closeGraceMs: true,
  clock: true,
  auditLog: true,
  contextualAccess: true,
  onWrite: true,
  memory: true,
  retiresLeftOver: true,
  meterProvider: true,
  onLog: true,
};

type Unset =
  | "policy"
  | "threadsMax"
  | "deadlineMs"
  | "fuelPolls"
  | "contextualAccess"
  | "onWrite"
  | "memory"
  | "meterProvider";
/** Options that become part of the store. */
type OfFiles = "dataDir" | "mounts" | "durability";
export type CheckedOptions = Required<Omit<RuntimeOptions, Unset | OfFiles | "auditLog">> &
  Pick<RuntimeOptions, Unset> & { readonly auditLog: Required<AuditLogOptions> | null };

/** Adds the defaults to the options. Throws for invalid options: they are a mistake of the program, not of a call. */
export function checkOptions(given: RuntimeOptions): CheckedOptions {
  checkFields("createRuntime", given, optionFields);
  const options = copyOptions(given);
  const { plugins = defaultPlugins, clock = Date.now, onLog = () => {}, instances = "restored" } = options;
  const store = storeOf(options);
  if (!Array.isArray(plugins)) throw new TypeError("plugins is not an array of files");
  checkPolicySource(options.policy);
  if (typeof clock !== "function") throw new TypeError("clock is not a function");
  if (typeof onLog !== "function") throw new TypeError("onLog is not a function");
  if (options.onWrite !== undefined && typeof options.onWrite !== "function") {
    throw new TypeError("onWrite is not a function");
  }
  checkMeters(options);
  checkSharing(options);
  const { retiresLeftOver = true, warmThreads = false, readOnly = false } = options;
  for (const [name, value] of Object.entries({ retiresLeftOver, warmThreads, readOnly })) {
    if (typeof value !== "boolean") throw new TypeError(`${name} is neither true nor false`);
  }
  if (instances !== "restored" && instances !== "fresh") {
    throw new RangeError(`instances is ${String(instances)}, allowed: "restored", "fresh"`);
  }
  const auditLog = options.auditLog === undefined ? null : checkAuditLogOptions(options.auditLog);
  if (auditLog !== null) store.checkLogFile?.(auditLog.file);
  for (const [name, max] of Object.entries(numbersMax))
    checkNumber(name, options[name as keyof typeof numbersMax], max);
  return {
    ...options,
    store,
    // Resolved now: while plugins load, the program can change its working directory or the objects that it has passed.
    plugins: plugins.map(placedPlugin),
    ...(typeof options.policy === "string" && { policy: placed(options.policy) }),
    auditLog: auditLog && { ...auditLog, file: resolve(auditLog.file) },
    clock,
    onLog: limitedLog(onLog),
    instances,
    retiresLeftOver,
    warmThreads,
    readOnly,
    waitMs: options.waitMs ?? queueLimits.waitMs,
    queuedCallsMax: options.queuedCallsMax ?? queueLimits.callsMax,
    queuedCallsPerUserMax: options.queuedCallsPerUserMax ?? queueLimits.callsPerUserMax,
    closeGraceMs: options.closeGraceMs ?? closingLimits.graceMs,
  };
}

/** Each option is read once, also an inherited one: `{ ...options }` would leave out the `onWrite` of a class. */
function copyOptions(given: RuntimeOptions): RuntimeOptions {
  const names = Object.keys(optionFields) as (keyof RuntimeOptions)[];
  const read = names.map((name) => [name, given[name]] as const);
  return Object.fromEntries(read.filter(([, value]) => value !== undefined));
}

function storeOf({ store, dataDir, mounts, durability }: RuntimeOptions): StoreDefinition {
  if (store === undefined) {
    if (typeof dataDir !== "string" || dataDir === "") throw new TypeError("createRuntime needs a dataDir or a store");
    return fileStore({ dir: dataDir, mounts, durability });
  }
  if (!isStoreDefinition(store)) throw new TypeError("store is not what fileStore or memoryStore returns");
  const both = Object.entries({ dataDir, mounts, durability }).find(([, value]) => value !== undefined);
  if (both === undefined) return store;
  throw new TypeError(`createRuntime has a store and ${both[0]}, allowed: a store, or a dataDir and what goes with it`);
}

function checkMeters({ meterProvider }: RuntimeOptions): void {
  if (meterProvider === undefined) return;
  const isProvider = typeof meterProvider === "object" && meterProvider !== null;
  if (!isProvider || typeof meterProvider.getMeter !== "function") throw new TypeError("meterProvider has no getMeter");
}

function checkSharing({ contextualAccess, memory }: RuntimeOptions): void {
  if (contextualAccess !== undefined && typeof contextualAccess !== "function") {
    throw new TypeError("contextualAccess is not a function");
  }
  if (memory === undefined) return;
  checkFields("createRuntime: memory", memory, { sharingByModels: true });
  const { sharingByModels = false } = memory;
  if (typeof sharingByModels !== "boolean") throw new TypeError("memory.sharingByModels is neither true nor false");
}

function placedPlugin(plugin: unknown, at: number): string {
  if (typeof plugin !== "string") throw new TypeError(`plugins[${at}] is neither a file nor a name`);
  return isPluginName(plugin) ? plugin : placed(plugin);
}

/** Makes a file name absolute. Keeps a trailing separator, and keeps an empty name, which names no file. */
const placed = (file: string): string => (file === "" || isAbsolute(file) ? file : join(process.cwd(), file));

/** Checks only the type. The content is checked when the policy is loaded. */
function checkPolicySource(policy: unknown): void {
  if (policy === undefined || (typeof policy === "string" && policy !== "")) return;
  if (typeof policy !== "object" || policy === null) throw new TypeError("policy is neither a file nor an object");
}

function checkNumber(name: string, number: number | undefined, max: number): void {
  if (number === undefined || (Number.isInteger(number) && number > 0 && number <= max)) return;
  const allowed = max === timerMsMax ? `a whole number from 1 to ${max}` : "a whole number from 1";
  throw new RangeError(`${name} is ${String(number)}, allowed: ${allowed}`);
}
