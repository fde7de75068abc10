/**
 * Plugin instances: each serves one call at a time, and a thread has some ready. The only file that imports
 * `@extism/extism`. Its bugs are worked around only in this folder, except its `node:wasi` warning in
 * `host/thread/threads.ts` (`host/guest/RATIONALE.md`, "Why @extism/extism 1.0.3?").
 */
import { setImmediate } from "node:timers/promises";

import { createPlugin } from "@extism/extism";
import type { Plugin } from "@extism/extism";

import { capabilityModule, fuelConfigKey, kernelModule } from "../../shared/abi.ts";
import type { CapabilityName } from "../../shared/abi.ts";
import { callLimits, threadLimits } from "../../shared/limits.ts";
import { BlockAccess, BlockBudget } from "./block-access.ts";
import type { BoundCapabilities } from "./capabilities/bind-capabilities.ts";
import { strictText } from "./guest-json.ts";
import type { GuestModule } from "./guest-module.ts";
import { capabilityFunctions, kernelFunctions } from "./host-functions.ts";
import type { GuestLog } from "./host-functions.ts";

/** How a guest's run ended, as Extism reports it. */
export type GuestOutcome =
  | { readonly kind: "output"; readonly text: string; readonly bytes: number }
  | { readonly kind: "error"; readonly text: string }
  | { readonly kind: "oversized"; readonly bytes: number }
  | { readonly kind: "exhausted" }
  | { readonly kind: "trap"; readonly cause: unknown; readonly isMemoryFull: boolean };

/** What one call may use. */
export interface GuestEnvironment {
  readonly capabilities: BoundCapabilities;
  readonly log: GuestLog;
  /** Whether the call has ended, so that the guest's work is of no use any more. Default: it has not. */
  readonly isEnded?: () => boolean;
  /** Whether each file that the guest reads gives it a call's fuel anew. Default: it has one call's fuel for all. */
  readonly refuels?: boolean;
}

/** The call that the instance's host functions work on. Empty between two calls. */
interface CallSlot {
  environment: GuestEnvironment | null;
  budget: BlockBudget;
  returnCode: number;
}

/** The configuration that a guest can read. Has no prototype, or "constructor" would be one of its keys. */
export type GuestConfig = Readonly<Record<string, string>>;

const errorPrefix = "Plugin-originated error: ";

/** The SDK's name for a plugin's only module. */
const onlyModule = "0";

export class GuestInstance {
  readonly #plugin: Plugin;
  readonly #slot: CallSlot;
  readonly #memory: WebAssembly.Memory;
  readonly #memoryBytesMax: number;
  readonly #state: InstanceState | null;
  readonly #fuel: GuestFuel;
  readonly #blocks: BlockAccess;
  /** `broken`: its code was interrupted, or its state is unknown. */
  #condition: "pristine" | "used" | "broken" = "pristine";

  private constructor(plugin: Plugin, slot: CallSlot, instance: WebAssembly.Instance, parts: InstanceParts) {
    this.#plugin = plugin;
    this.#slot = slot;
    this.#memory = instance.exports["memory"] as WebAssembly.Memory;
    this.#memoryBytesMax = parts.memoryBytesMax;
    this.#blocks = parts.blocks;
    const shown = parts.stateExports?.map((name) => instance.exports[name]) ?? null;
    this.#state = shown && new InstanceState(this.#memory, shown);
    this.#fuel = new GuestFuel(
      parts.fuelExport === null ? null : instance.exports[parts.fuelExport],
      parts.fuelPollsMax,
    );
  }

  /** Runs no code of the guest: a module with a start function has already been refused. */
  static async create(guest: GuestModule, config: GuestConfig): Promise<GuestInstance> {
    const slot: CallSlot = { environment: null, budget: new BlockBudget(), returnCode: 0 };
    let made: GuestInstance | null = null;
    const access = new BlockAccess();
    const onPoll = (): void => made?.stopIfEnded();
    const budget = (): BlockBudget => slot.budget;
    const log = (): GuestLog | null => slot.environment?.log ?? null;
    const capabilities = (): BoundCapabilities | null => slot.environment?.capabilities ?? null;
    const onReply = (name: CapabilityName): void => made?.adjustFuel(name);
    const plugin = await createPlugin(
      { wasm: [{ module: guest.module }] },
      {
        useWasi: false,
        functions: {
          [capabilityModule]: capabilityFunctions({ access, budget, capabilities, onReply }),
          [kernelModule]: kernelFunctions({ access, budget, log, config, onPoll }),
        },
      },
    );
    const instance = await plugin.getInstance(onlyModule);
    const fuelPollsMax = Math.min(guest.fuelPollsMax, Number(config[fuelConfigKey] ?? guest.fuelPollsMax));
    const parts = { ...guest, fuelPollsMax, blocks: access };
    made = new GuestInstance(plugin, slot, instance, parts);
    watchReturnCode(instance, slot, access);
    return made;
  }

  /**
   * Stops the guest if its call has ended: takes its fuel, so that it ends at once and its thread can go on. A guest that
   * does not count its fuel is stopped by an error.
   */
  stopIfEnded(): void {
    if (this.#slot.environment?.isEnded?.() !== true) return;
    if (!this.#fuel.isCounted) throw new CallEnded("The call has ended");
    this.#fuel.take();
  }

  /** After a capability: stops the guest if its call has ended, and otherwise refuels it if it has read a file. */
  adjustFuel(name: CapabilityName): void {
    this.stopIfEnded();
    if (name === "store_read" && this.#slot.environment?.refuels === true) this.#fuel.refill();
  }

  /** Calls one export with one text. Afterwards the instance needs `restore` before the next call. */
  async run(exportName: string, input: string, environment: GuestEnvironment): Promise<GuestOutcome> {
    if (this.#condition !== "pristine") throw new RangeError(`An instance that is ${this.#condition} serves no call`);
    this.#condition = "broken";
    const slot = this.#slot;
    const bytes = encoder.encode(input);
    this.#blocks.begin(bytes);
    slot.budget = new BlockBudget();
    slot.budget.take(bytes.byteLength);
    slot.returnCode = 0;
    this.#fuel.beginCall();
    slot.environment = environment;
    try {
      const outcome = await this.#call(exportName, input);
      // Whatever the guest answered: some guests can catch the error that should have stopped them.
      if (slot.budget.isExhausted) return { kind: "exhausted" };
      if (outcome.kind === "output" || outcome.kind === "error") this.#condition = "used";
      return outcome;
    } finally {
      slot.environment = null;
      this.#blocks.end();
    }
  }

  /** The polls that the call since the last `restore` has used; `null` if the plugin does not export its counter. */
  get fuelPollsUsed(): number | null {
    return this.#fuel.pollsUsed;
  }

  /** Makes a used instance pristine. Returns `false` if that is impossible; then the instance must be thrown away. */
  async restore(): Promise<boolean> {
    if (this.#condition === "pristine") return true;
    if (this.#condition === "broken" || this.#state === null) return false;
    this.#condition = "broken";
    if (!(await this.#plugin.reset()) || !this.#state.restore()) return false;
    this.#condition = "pristine";
    return true;
  }

  async #call(exportName: string, input: string): Promise<GuestOutcome> {
    try {
      // With the module's name, or the SDK would search the module's exports for it.
      // A string, never a Buffer: the SDK would give the guest the Buffer's whole memory pool.
      const output = await this.#plugin.call([onlyModule, exportName], input);
      if (this.#slot.returnCode !== 0) return { kind: "error", text: "" };
      if (output === null) return { kind: "output", text: "", bytes: 0 };
      const bytes = output.arrayBuffer();
      const { byteLength } = bytes;
      if (byteLength > callLimits.outputBytesMax + callLimits.showsBytesMax)
        return { kind: "oversized", bytes: byteLength };
      return { kind: "output", text: strictText(bytes), bytes: byteLength };
    } catch (error) {
      const message = error instanceof Error ? error.message : "";
      if (message.startsWith(errorPrefix)) return { kind: "error", text: message.slice(errorPrefix.length) };
      return { kind: "trap", cause: error, isMemoryFull: this.#memory.buffer.byteLength === this.#memoryBytesMax };
    }
  }
}

/**
 * The polls that a guest has left, in its own global: the one that enforces its fuel, and no more trustworthy than that.
 */
export class GuestFuel {
  readonly #left: WebAssembly.Global | null;
  readonly #pollsMax: number;
  /** What the call has used before it was refuelled. */
  #pollsSpent = 0;

  /** `exported`: what the plugin exports as its counter; anything else if it has none. */
  constructor(exported: unknown, pollsMax: number) {
    this.#left = exported instanceof WebAssembly.Global ? exported : null;
    this.#pollsMax = pollsMax;
  }

  get isCounted(): boolean {
    return this.#left !== null;
  }

  /** The polls that the present call has used; `null` if the plugin does not count them. */
  get pollsUsed(): number | null {
    if (this.#left === null) return null;
    return this.#pollsSpent + Math.min(Math.max(this.#pollsMax - Number(this.#left.value), 0), this.#pollsMax);
  }

  beginCall(): void {
    this.#pollsSpent = 0;
  }

  /** Ends the guest at its next poll. */
  take(): void {
    if (this.#left !== null) this.#left.value = 0;
  }

  /** Gives the guest a call's fuel again, unless it has none left. */
  refill(): void {
    if (this.#left === null || Number(this.#left.value) <= 0) return;
    this.#pollsSpent = this.pollsUsed ?? 0;
    this.#left.value = this.#pollsMax;
  }
}

type InstanceParts = Omit<GuestModule, "module"> & { readonly blocks: BlockAccess };

/**
 * Records the return code of each export: the SDK drops it, but on every other host a code other than 0 is a failure. Also
 * settles the blocks before the SDK looks at them. The SDK looks up the export on the instance for each call, so the exports
 * can be replaced with recording functions.
 */
function watchReturnCode(instance: WebAssembly.Instance, slot: CallSlot, blocks: BlockAccess): void {
  const recording = Object.entries(instance.exports).map(([name, original]) => {
    if (typeof original !== "function") return [name, original];
    const record = (): void => {
      try {
        slot.returnCode = Number(original());
      } finally {
        blocks.settle();
      }
    };
    return [name, record];
  });
  Object.defineProperty(instance, "exports", { value: Object.fromEntries(recording) });
}

/** Ends a guest that does not count its fuel. */
class CallEnded extends Error {}

const encoder = new TextEncoder();

/** A memory is compared and restored in pieces of this size: shorter runs would cost more calls than they save. */
const pageBytes = 4_096;

/** Bytes of a memory, from one page to another, that are all zero, or a copy of them. */
type Run =
  | { readonly start: number; readonly end: number; readonly content: null }
  | { readonly start: number; readonly content: Uint8Array };

/**
 * All mutable state of an instance, saved before any code runs, to restore the instance later.
 *
 * By the WebAssembly standard an instance consists of functions, which never change, and of a memory, tables, globals
 * and segments. `guest-module.ts` allows this only for modules whose segments cannot be dropped, and exports all globals
 * and tables that the code can change. This class restores the memory's bytes and the globals. It cannot restore a
 * memory or table that has grown, or a table with another function: then `restore` returns `false`, and the instance is
 * thrown away.
 */
class InstanceState {
  readonly #memory: WebAssembly.Memory;
  readonly #memoryBytes: number;
  readonly #runs: readonly Run[];
  readonly #globals: readonly { readonly global: WebAssembly.Global; readonly value: unknown }[];
  readonly #tables: readonly { readonly table: WebAssembly.Table; readonly functions: readonly unknown[] }[];

  /** For an instance that has not run yet. `parts`: its mutable globals, and the tables that can change. */
  constructor(memory: WebAssembly.Memory, parts: readonly unknown[]) {
    const bytes = new Uint8Array(memory.buffer);
    this.#memory = memory;
    this.#memoryBytes = bytes.length;
    this.#runs = runsOf(bytes);
    this.#globals = parts
      .filter((part) => part instanceof WebAssembly.Global)
      .map((global) => ({ global, value: global.value }));
    this.#tables = parts
      .filter((part) => part instanceof WebAssembly.Table)
      .map((table) => ({ table, functions: functionsOf(table) }));
  }

  /** Returns whether the instance is now in its first state. */
  restore(): boolean {
    if (this.#memory.buffer.byteLength !== this.#memoryBytes) return false;
    if (!this.#tables.every(({ table, functions }) => holds(table, functions))) return false;
    const bytes = new Uint8Array(this.#memory.buffer);
    for (const run of this.#runs) {
      if (run.content === null) bytes.fill(0, run.start, run.end);
      else bytes.set(run.content, run.start);
    }
    for (const { global, value } of this.#globals) global.value = value;
    return true;
  }
}

/** Nearly three quarters of a memory are zero, and to fill is faster than to copy. */
function runsOf(bytes: Uint8Array): Run[] {
  const runs: Run[] = [];
  for (let start = 0; start < bytes.length;) {
    const isZero = isZeroPage(bytes, start);
    let end = start + pageBytes;
    while (end < bytes.length && isZeroPage(bytes, end) === isZero) end += pageBytes;
    runs.push(isZero ? { start, end, content: null } : { start, content: bytes.slice(start, end) });
    start = end;
  }
  return runs;
}

function isZeroPage(bytes: Uint8Array, start: number): boolean {
  return zeroPage.equals(bytes.subarray(start, start + pageBytes));
}

const zeroPage = Buffer.alloc(pageBytes);

const functionsOf = (table: WebAssembly.Table): unknown[] =>
  Array.from({ length: table.length }, (_, index) => table.get(index));

function holds(table: WebAssembly.Table, functions: readonly unknown[]): boolean {
  return table.length === functions.length && functions.every((each, index) => table.get(index) === each);
}

/**
 * The pristine instances of one thread, one for each module. The thread creates or restores them while it has nothing
 * else to do, before a call needs them.
 *
 * An instance that is taken is out of the stock until it is restored or replaced, so no call finds data of another.
 */
export class InstanceStock {
  readonly #ready = new Map<GuestModule, Promise<GuestInstance>>();
  readonly #config: GuestConfig;
  readonly #reuses: boolean;

  /** Without `reuses`, an instance never serves a second call. */
  constructor(config: GuestConfig, reuses: boolean) {
    this.#config = config;
    this.#reuses = reuses;
  }

  take(guest: GuestModule): Promise<GuestInstance> {
    const ready = this.#ready.get(guest);
    this.#ready.delete(guest);
    return ready ?? GuestInstance.create(guest, this.#config);
  }

  /** Prepares an instance for the next call, after the current work. `used` has served this call. */
  refillSoon(guest: GuestModule, used: GuestInstance | null): void {
    if (this.#ready.has(guest)) return;
    const instance = setImmediate().then(() => this.#next(guest, used));
    this.#ready.set(guest, instance);
    this.#forgetOldest();
    // A failure is ignored here: the next call tries again and reports it.
    instance.catch(() => {
      if (this.#ready.get(guest) === instance) this.#ready.delete(guest);
    });
  }

  /** Keeps the instances of the plugins that were called last. */
  #forgetOldest(): void {
    const [oldest] = this.#ready.keys();
    if (oldest !== undefined && this.#ready.size > threadLimits.instancesMax) this.#ready.delete(oldest);
  }

  async #next(guest: GuestModule, used: GuestInstance | null): Promise<GuestInstance> {
    if (used && this.#reuses && (await used.restore())) return used;
    return await GuestInstance.create(guest, this.#config);
  }
}
