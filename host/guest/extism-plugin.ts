/**
 * One plugin instance, for one call. Sole importer of `@extism/extism`: what its releases get wrong is mended here and
 * nowhere else (`host/RATIONALE.md`, "Why @extism/extism 1.0.3?").
 */
import { createPlugin } from "@extism/extism";
import type { CallContext, Plugin } from "@extism/extism";

import { capabilityModule, capabilityNames, kernelModule } from "../../shared/abi.ts";
import { callLimits } from "../../shared/limits.ts";
import type { BoundCapabilities } from "../capabilities/bind-capabilities.ts";
import { blockAccess } from "./block-access.ts";
import { consoleOf } from "./guest-log.ts";
import type { GuestLog } from "./guest-log.ts";

/** How a guest's run ended, as Extism tells it. */
export type GuestOutcome =
  | { readonly kind: "output"; readonly text: string }
  | { readonly kind: "error"; readonly text: string }
  | { readonly kind: "oversized"; readonly bytes: number }
  | { readonly kind: "exhausted" }
  | { readonly kind: "trap"; readonly cause: unknown };

const errorPrefix = "Plugin-originated error: ";

/** What the SDK calls a plugin's only module. */
const onlyModule = "0";

/** What one call may use. */
export interface GuestEnvironment {
  readonly capabilities: BoundCapabilities;
  readonly log: GuestLog;
}

/** An instance that has not run yet. It serves one call. */
export interface FreshInstance {
  run(exportName: string, input: string, environment: GuestEnvironment): Promise<GuestOutcome>;
}

/** What the instance's host functions work on: nothing before its call, and one call's environment from then on. */
interface CallSlot {
  environment: GuestEnvironment | null;
  input: DataView;
  returnCode: number;
}

/**
 * Makes an instance, before it is known for which call. No code of the guest runs here: a module with a start function
 * is refused before it gets so far.
 */
export async function instantiatePlugin(module: WebAssembly.Module): Promise<FreshInstance> {
  const slot: CallSlot = { environment: null, input: new DataView(new ArrayBuffer(0)), returnCode: 0 };
  const plugin = await createPlugin(
    { wasm: [{ module }] },
    {
      useWasi: false,
      // A prototype would make "constructor" a configuration key.
      config: Object.create(null) as Record<string, string>,
      functions: {
        [capabilityModule]: hostFunctions(slot),
        [kernelModule]: { alloc: boundedAlloc(), ...blockAccess(() => slot.input) },
      },
      logger: consoleOf((level, text) => slot.environment?.log.add(level, text)),
    },
  );
  await watchReturnCode(plugin, slot);
  return {
    run: (exportName, input, environment) => {
      if (slot.environment) throw new RangeError("An instance serves one call");
      slot.environment = environment;
      const { buffer, byteOffset, byteLength } = new TextEncoder().encode(input);
      slot.input = new DataView(buffer, byteOffset, byteLength);
      return runOnce(plugin, slot, exportName, input);
    },
  };
}

/**
 * Calls one export with one text. The instance is left to the garbage collector afterwards: what a call leaves behind
 * in it, also in freed memory, no other call can ever see.
 */
async function runOnce(plugin: Plugin, slot: CallSlot, exportName: string, input: string): Promise<GuestOutcome> {
  try {
    // Named with its module, or the SDK would list the module's exports to find it.
    // A string, never a Buffer: of a Buffer the SDK would hand the guest the whole pool it is cut from.
    const output = await plugin.call([onlyModule, exportName], input);
    if (slot.returnCode !== 0) return { kind: "error", text: "" };
    if (output === null) return { kind: "output", text: "" };
    const bytes = output.bytes().byteLength;
    return bytes > callLimits.outputBytesMax ? { kind: "oversized", bytes } : { kind: "output", text: output.text() };
  } catch (error) {
    if (error instanceof BlocksExhausted) return { kind: "exhausted" };
    const message = error instanceof Error ? error.message : "";
    if (!message.startsWith(errorPrefix)) return { kind: "trap", cause: error };
    return { kind: "error", text: message.slice(errorPrefix.length) };
  }
}

/**
 * The SDK drops what an export returns, but a code other than 0 is a failure on every other host. It looks the export
 * up on the instance for each call, so recording ones can stand in their places.
 */
async function watchReturnCode(plugin: Plugin, slot: CallSlot): Promise<void> {
  const instance = await plugin.getInstance(onlyModule);
  const recording = Object.entries(instance.exports).map(([name, original]) => {
    if (typeof original !== "function") return [name, original];
    const record = (): void => {
      slot.returnCode = Number(original());
    };
    return [name, record];
  });
  Object.defineProperty(instance, "exports", { value: Object.fromEntries(recording) });
}

/** Blocks lie outside the guest's memory, where neither its maximum nor the thread's limits see them. */
function boundedAlloc(): (context: CallContext, bytes: bigint) => bigint {
  let used = 0n;
  return (context, bytes) => {
    used += bytes;
    if (bytes < 0n || used > BigInt(callLimits.blockBytesMax)) throw new BlocksExhausted();
    return context.alloc(bytes);
  };
}

class BlocksExhausted extends Error {}

type HostFunction = (context: CallContext, request: bigint) => bigint;

function hostFunctions(slot: CallSlot): Record<string, HostFunction> {
  return Object.fromEntries(
    capabilityNames.map((name) => [
      name,
      (context, request) => {
        if (!slot.environment) throw new RangeError("An instance without a call has no capabilities");
        return context.store(slot.environment.capabilities[name](textOf(context, request)));
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
    return block.text();
  } catch {
    return "";
  }
}
