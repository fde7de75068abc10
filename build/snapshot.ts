/**
 * Step 2. JavaScript to the memory of an engine that has already run it.
 *
 * Compiling and running happen in two engines: the first can compile, the second, whose memory is kept, has neither
 * `eval` nor `Function`. Output: the memory, and the addresses in it that the glue needs.
 */
import { fuelConfigKey } from "../shared/abi.ts";
import { failed } from "../shared/envelope.ts";
import type { ErrorCode } from "../shared/errors.ts";
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
  /** Error envelopes for what the guest cannot report itself, and the key of the fuel's configuration. */
  readonly texts: Readonly<Record<"fuel" | "memory" | "trap" | "fuel_key", LaidBytes>>;
  /** Sixteen bytes for the glue's out-parameters. */
  readonly scratch: number;
}

/**
 * How much of its memory the engine uses before it looks for cycles, the only garbage that does not go at once. A usual
 * call ends far below; one that makes cycles without end still meets this long before the memory's maximum.
 */
const collectAboveBytes = 8 * 1024 * 1024;

/**
 * Free memory that every instance begins with. A host that puts an instance back cannot shrink its memory, and throws
 * one away that has grown: a call with an index of 1,000 entries needs 13 pages, one with the largest body needs four.
 */
const roomBytes = 14 * pageBytes;

/** The natives' letters: `glue/engine.wat` says what each does. */
const natives = "ioesrnfculDIWE".split("");

export async function snapshotPlugin({ script, deferred }: Bundle, family: Family): Promise<Snapshot> {
  const compiler = await Engine.forCompiling();
  const bytecode = compiler.compile(script, family.name);
  const deferredCode = deferred.map((module, index) => compiler.compile(module, `${family.name}-${index}`));
  const cleanUp = compiler.compile(cleanUpScript(family), "clean-up");

  const engine = await Engine.forGuest();
  const restingStack = Number(engine.exports.__stack_pointer.value);
  for (const letter of natives) engine.defineNative(letter);
  engine.run(bytecode, family.name);
  const tools = family.tools.map((tool) => toolBox(engine, family, tool.export));
  engine.run(cleanUp, "clean-up");

  const addresses = {
    tools,
    deferred: deferredCode.map((code) => engine.lay(code)),
    context: engine.exports.qjs_get_context_ptr(),
    texts: {
      fuel: layFailure(engine, "FUEL_EXHAUSTED", "Cannot finish the call: its computing budget is used up"),
      memory: layFailure(engine, "MEMORY_EXCEEDED", "Cannot finish the call: the plugin's wasm memory is used up"),
      trap: layFailure(engine, "GUEST_TRAPPED", "Cannot finish the call: the plugin's code failed beyond repair"),
      fuel_key: engine.layText(fuelConfigKey),
    },
    scratch: engine.reserve(16),
  };
  engine.exports.qjs_run_gc();
  // Left alone, the engine would collect once a call has made 50 KB: a tenth of the time of an entry of 60 KB.
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

/** The names that only the build needed. */
function cleanUpScript(family: Family): string {
  const names = ["__entryPoint", "__loadDeferred", ...family.tools.map((tool) => toolGlobal(tool.export))];
  return names.map((name) => `delete globalThis.${name};`).join("");
}

function layFailure(engine: Engine, code: ErrorCode, message: string): LaidBytes {
  return engine.layText(JSON.stringify(failed(code, message)));
}
