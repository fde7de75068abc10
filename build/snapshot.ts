/**
 * Step 2: JavaScript to the memory of an engine that has already run it.
 *
 * One engine compiles the script. Another one, without `eval` and `Function`, runs it, and its memory is kept. Output:
 * this memory, and the addresses in it that the glue needs.
 */
import { fuelConfigKey } from "../shared/abi.ts";
import { failed } from "../shared/envelope.ts";
import type { ErrorCode } from "../shared/errors.ts";
import { exportsOf } from "../shared/manifest.ts";
import type { Family } from "../shared/manifest.ts";
import { toolGlobal } from "./bundle.ts";
import type { Bundle } from "./bundle.ts";
import { clearFreedMemory } from "./clear-freed.ts";
import { Engine } from "./engine.ts";
import { pageBytes } from "./image.ts";

/** Text or bytecode at an address of the snapshot's memory. */
export interface LaidBytes {
  readonly pointer: number;
  readonly bytes: number;
}

export interface Snapshot {
  readonly memory: Uint8Array;
  /** For each tool, in the family's order, the box of the function to run. */
  readonly tools: readonly number[];
  /** The bytecode of each deferred module. */
  readonly deferred: readonly LaidBytes[];
  /** The engine's context pointer. */
  readonly context: number;
  /** Error envelopes for failures that the guest cannot report itself, and the configuration key of the fuel. */
  readonly texts: Readonly<Record<"fuel" | "memory" | "trap" | "fuel_key", LaidBytes>>;
  /** Sixteen bytes for the glue's out-parameters. */
  readonly scratch: number;
}

/**
 * The memory use above which the engine collects cycles; it frees all other garbage at once. A usual call stays far
 * below. A call that makes cycles without end reaches this long before the memory's maximum.
 */
const collectAboveBytes = 8 * 1024 * 1024;

/**
 * The free memory of every new instance. A host that resets instances cannot shrink their memory, and discards one that
 * has grown. A call with an index of 1,000 entries needs 13 pages, one with the largest body needs four.
 */
const roomBytes = 14 * pageBytes;

/** The natives' letters; `glue/engine.wat` says what each does. */
const natives = "ioesrnfculwtqDIWE".split("");

export async function snapshotPlugin({ script, deferred }: Bundle, family: Family): Promise<Snapshot> {
  const compiler = await Engine.forCompiling();
  const bytecode = compiler.compile(script, family.name);
  const deferredCode = deferred.map((module, index) => compiler.compile(module, `${family.name}-${index}`));
  const cleanUp = compiler.compile(cleanUpScript(family), "clean-up");

  const engine = await Engine.forGuest();
  const restingStack = Number(engine.exports.__stack_pointer.value);
  for (const letter of natives) engine.defineNative(letter);
  engine.run(bytecode, family.name);
  const tools = family.tools.flatMap(exportsOf).map((name) => toolBox(engine, family, name));
  engine.run(cleanUp, "clean-up");

  const addresses = {
    tools,
    deferred: deferredCode.map((code) => engine.lay(code)),
    context: engine.exports.qjs_get_context_ptr(),
    texts: {
      fuel: layFailure(engine, "FUEL_EXHAUSTED", "Cannot finish the call: its computing budget is used up"),
      memory: layFailure(engine, "MEMORY_EXCEEDED", "Cannot finish the call: the plugin's wasm memory is used up"),
      trap: layFailure(engine, "GUEST_TRAPPED", "Cannot finish the call: the plugin's code crashed"),
      fuel_key: engine.layText(fuelConfigKey),
    },
    scratch: engine.reserve(16),
  };
  engine.exports.qjs_run_gc();
  // By default the engine collects after 50 KB, which takes a tenth of a call's time with an entry of 60 KB.
  engine.exports.qjs_set_gc_threshold(collectAboveBytes);
  if (Number(engine.exports.__stack_pointer.value) !== restingStack) {
    throw new Error(`Cannot snapshot plugin "${family.name}": the engine's stack is not at rest`);
  }
  engine.makeRoom(roomBytes);
  return { memory: await clearFreedMemory(engine.bytes), ...addresses };
}

function toolBox(engine: Engine, family: Family, exportName: string): number {
  const box = engine.globalProperty(toolGlobal(exportName));
  if (!engine.isFunction(box)) {
    throw new Error(`Cannot build plugin "${family.name}": index.ts exports no function "${exportName}"`);
  }
  return box;
}

/** Returns a script that deletes the names that only the build needed. */
function cleanUpScript(family: Family): string {
  const names = ["__entryPoint", "__loadDeferred", ...family.tools.flatMap(exportsOf).map((name) => toolGlobal(name))];
  return names.map((name) => `delete globalThis.${name};`).join("");
}

function layFailure(engine: Engine, code: ErrorCode, message: string): LaidBytes {
  return engine.layText(JSON.stringify(failed(code, message)));
}
