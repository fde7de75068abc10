/**
 * One plugin instance, which serves one call at a time. Sole importer of `@extism/extism`: what its releases get wrong
 * is mended here and beside, and nowhere else (`host/guest/RATIONALE.md`, "Why @extism/extism 1.0.3?").
 */
import { createPlugin } from "@extism/extism";
import type { CallContext, Plugin } from "@extism/extism";

import { capabilityModule, capabilityNames, fuelConfigKey, kernelModule } from "../../shared/abi.ts";
import { callLimits } from "../../shared/limits.ts";
import { accessBlocks, BlockBudget } from "./block-access.ts";
import type { BoundCapabilities } from "./capabilities/bind-capabilities.ts";
import type { GuestModule } from "./guest-module.ts";
import { InstanceState } from "./instance-state.ts";
import type { GuestLog } from "./kernel-functions.ts";
import { kernelFunctions } from "./kernel-functions.ts";

/** How a guest's run ended, as Extism tells it. */
export type GuestOutcome =
  | { readonly kind: "output"; readonly text: string }
  | { readonly kind: "error"; readonly text: string }
  | { readonly kind: "oversized"; readonly bytes: number }
  | { readonly kind: "exhausted" }
  | { readonly kind: "trap"; readonly cause: unknown; readonly isMemoryFull: boolean };

/** What one call may use. */
export interface GuestEnvironment {
  readonly capabilities: BoundCapabilities;
  readonly log: GuestLog;
}

/** What the instance's host functions work on: one call's, and nothing between two calls. */
interface CallSlot {
  environment: GuestEnvironment | null;
  input: DataView;
  budget: BlockBudget;
  returnCode: number;
}

/** The configuration that a guest can read. A prototype would make "constructor" one of its keys. */
export type GuestConfig = Readonly<Record<string, string>>;

const errorPrefix = "Plugin-originated error: ";

/** What the SDK calls a plugin's only module. */
const onlyModule = "0";

const noBytes = new DataView(new ArrayBuffer(0));

export class GuestInstance {
  readonly #plugin: Plugin;
  readonly #slot: CallSlot;
  readonly #memory: WebAssembly.Memory;
  readonly #memoryBytesMax: number;
  readonly #state: InstanceState | null;
  /** Polls left, as the guest counts them. */
  readonly #fuel: WebAssembly.Global | null;
  readonly #fuelPollsMax: number;
  readonly #forgetBlocks: () => void;
  /** `broken`: its code was left in the middle of something, or nobody knows. */
  #condition: "pristine" | "used" | "broken" = "pristine";

  private constructor(plugin: Plugin, slot: CallSlot, instance: WebAssembly.Instance, parts: InstanceParts) {
    this.#plugin = plugin;
    this.#slot = slot;
    this.#memory = instance.exports["memory"] as WebAssembly.Memory;
    this.#memoryBytesMax = parts.memoryBytesMax;
    this.#forgetBlocks = parts.forgetBlocks;
    const shown = parts.stateExports?.map((name) => instance.exports[name]) ?? null;
    this.#state = shown && new InstanceState(this.#memory, shown);
    const fuel = parts.fuelExport === null ? null : instance.exports[parts.fuelExport];
    this.#fuel = fuel instanceof WebAssembly.Global ? fuel : null;
    this.#fuelPollsMax = parts.fuelPollsMax;
  }

  /** No code of the guest runs here: a module with a start function is refused before it gets so far. */
  static async create(guest: GuestModule, config: GuestConfig): Promise<GuestInstance> {
    const slot: CallSlot = { environment: null, input: noBytes, budget: new BlockBudget(), returnCode: 0 };
    const access = accessBlocks(() => slot.input);
    const budget = (): BlockBudget => slot.budget;
    const log = (): GuestLog | null => slot.environment?.log ?? null;
    const plugin = await createPlugin(
      { wasm: [{ module: guest.module }] },
      {
        useWasi: false,
        functions: {
          [capabilityModule]: capabilityFunctions(slot),
          [kernelModule]: kernelFunctions({ access, budget, log, config }),
        },
      },
    );
    const instance = await plugin.getInstance(onlyModule);
    const fuelPollsMax = Math.min(guest.fuelPollsMax, Number(config[fuelConfigKey] ?? guest.fuelPollsMax));
    const parts = { ...guest, fuelPollsMax, forgetBlocks: () => access.forget() };
    const made = new GuestInstance(plugin, slot, instance, parts);
    watchReturnCode(instance, slot);
    return made;
  }

  /** Calls one export with one text. Then the instance is used, and serves again only after `restore`. */
  async run(exportName: string, input: string, environment: GuestEnvironment): Promise<GuestOutcome> {
    if (this.#condition !== "pristine") throw new RangeError(`An instance that is ${this.#condition} serves no call`);
    this.#condition = "broken";
    const slot = this.#slot;
    const { buffer, byteOffset, byteLength } = new TextEncoder().encode(input);
    slot.input = new DataView(buffer, byteOffset, byteLength);
    slot.budget = new BlockBudget();
    slot.budget.take(byteLength);
    slot.returnCode = 0;
    slot.environment = environment;
    try {
      const outcome = await this.#call(exportName, input);
      // Whatever it answered: some guests can catch the error that should have ended them.
      if (slot.budget.isExhausted) return { kind: "exhausted" };
      if (outcome.kind === "output" || outcome.kind === "error") this.#condition = "used";
      return outcome;
    } finally {
      slot.environment = null;
      slot.input = noBytes;
      this.#forgetBlocks();
    }
  }

  /**
   * Polls that the call since the last `restore` has used; `null` when the plugin does not tell. It is the guest's own
   * counter: as much worth as the fuel, which the guest counts with it.
   */
  get fuelPollsUsed(): number | null {
    if (this.#fuel === null) return null;
    const left = Number(this.#fuel.value);
    return Math.min(Math.max(this.#fuelPollsMax - left, 0), this.#fuelPollsMax);
  }

  /** Makes a used instance pristine. `false` when that cannot be done; it has to be thrown away then. */
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
      // Named with its module, or the SDK would list the module's exports to find it.
      // A string, never a Buffer: of a Buffer the SDK would hand the guest the whole pool it is cut from.
      const output = await this.#plugin.call([onlyModule, exportName], input);
      if (this.#slot.returnCode !== 0) return { kind: "error", text: "" };
      if (output === null) return { kind: "output", text: "" };
      const bytes = output.bytes().byteLength;
      if (bytes > callLimits.outputBytesMax) return { kind: "oversized", bytes };
      return { kind: "output", text: strictText(output.bytes()) };
    } catch (error) {
      const message = error instanceof Error ? error.message : "";
      if (message.startsWith(errorPrefix)) return { kind: "error", text: message.slice(errorPrefix.length) };
      return { kind: "trap", cause: error, isMemoryFull: this.#memory.buffer.byteLength === this.#memoryBytesMax };
    }
  }
}

type InstanceParts = Omit<GuestModule, "module"> & { readonly forgetBlocks: () => void };

/**
 * The SDK drops what an export returns, but a code other than 0 is a failure on every other host. It looks the export
 * up on the instance for each call, so recording ones can stand in their places.
 */
function watchReturnCode(instance: WebAssembly.Instance, slot: CallSlot): void {
  const recording = Object.entries(instance.exports).map(([name, original]) => {
    if (typeof original !== "function") return [name, original];
    const record = (): void => {
      slot.returnCode = Number(original());
    };
    return [name, record];
  });
  Object.defineProperty(instance, "exports", { value: Object.fromEntries(recording) });
}

type HostFunction = (context: CallContext, request: bigint) => bigint;

function capabilityFunctions(slot: CallSlot): Record<string, HostFunction> {
  return Object.fromEntries(
    capabilityNames.map((name) => [
      name,
      (context, request) => {
        if (!slot.environment) throw new RangeError("An instance without a call has no capabilities");
        const reply = slot.environment.capabilities[name](textOf(context, request));
        slot.budget.take(Buffer.byteLength(reply));
        return context.store(reply);
      },
    ]),
  );
}

/** Handle 0 and handles that are no block count as empty text, which no capability accepts. */
function textOf(context: CallContext, handle: bigint): string {
  if (handle <= 0n) return "";
  try {
    const block = context.read(handle);
    if (block === null || block.bytes().byteLength > callLimits.requestBytesMax) return "";
    return strictText(block.bytes());
  } catch {
    return "";
  }
}

/** What is not UTF-8 is empty text, which is no JSON either. The SDK would put replacement characters in. */
function strictText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    return "";
  }
}

/** With a byte order mark, which is no JSON. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
