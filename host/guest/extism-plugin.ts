/**
 * One plugin instance, for one call. Sole importer of `@extism/extism`: what its releases get wrong is mended here and
 * nowhere else (`host/RATIONALE.md`, "Why @extism/extism 1.0.3?").
 */
import { createPlugin } from "@extism/extism";
import type { CallContext, Plugin } from "@extism/extism";

import { capabilityModule, kernelModule } from "../../shared/abi.ts";
import { callLimits } from "../../shared/limits.ts";
import type { BoundCapabilities } from "../capabilities/bind-capabilities.ts";
import type { GuestLog } from "./guest-log.ts";

/** How a guest's run ended, as Extism tells it. */
export type GuestOutcome =
  | { readonly kind: "output"; readonly text: string }
  | { readonly kind: "error"; readonly text: string }
  | { readonly kind: "oversized"; readonly bytes: number }
  | { readonly kind: "exhausted" }
  | { readonly kind: "trap"; readonly cause: unknown };

const errorPrefix = "Plugin-originated error: ";

/**
 * Instantiates the module and calls one export with one text. The instance is left to the garbage collector
 * afterwards: what a call leaves behind in it, also in freed memory, no other call can ever see.
 */
export async function runPlugin(
  module: WebAssembly.Module,
  exportName: string,
  input: string,
  environment: { readonly capabilities: BoundCapabilities; readonly log: GuestLog },
): Promise<GuestOutcome> {
  try {
    const plugin = await createPlugin(
      { wasm: [{ module }] },
      {
        useWasi: false,
        // A prototype would make "constructor" a configuration key.
        config: Object.create(null) as Record<string, string>,
        functions: {
          [capabilityModule]: hostFunctions(environment.capabilities),
          [kernelModule]: { alloc: boundedAlloc() },
        },
        logger: environment.log.asConsole(),
      },
    );
    const returned = await watchReturnCode(plugin, exportName);
    // A string, never a Buffer: of a Buffer the SDK would hand the guest the whole pool it is cut from.
    const output = await plugin.call(exportName, input);
    if (returned.code !== 0) return { kind: "error", text: "" };
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
 * up on the instance for each call, so a recording one can stand in its place.
 */
async function watchReturnCode(plugin: Plugin, exportName: string): Promise<{ readonly code: number }> {
  const returned = { code: 0 };
  const instance = await plugin.getInstance();
  const original = instance.exports[exportName] as () => unknown;
  const record = (): void => {
    returned.code = Number(original());
  };
  Object.defineProperty(instance, "exports", { value: { ...instance.exports, [exportName]: record } });
  return returned;
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

function hostFunctions(capabilities: BoundCapabilities): Record<string, HostFunction> {
  return Object.fromEntries(
    Object.entries(capabilities).map(([name, capability]) => [
      name,
      (context, request) => context.store(capability(textOf(context, request))),
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
