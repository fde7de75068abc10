/**
 * Whether a module is exactly what its manifest says: imports, exports and memory, no more and no less.
 *
 * The build asks it of what it made, and the host of what it is about to load: first of the bytes, so that no engine
 * compiles what is refused anyway, then of what the engine has made of them.
 */
import {
  capabilityModule,
  capabilitySignature,
  toolSignature,
  capabilityNames,
  capabilityRights,
  kernelModule,
  kernelSignatures,
} from "./abi.ts";
import type { CapabilityName } from "./abi.ts";
import { guestLimits } from "./limits.ts";
import type { Manifest } from "./manifest.ts";
import { quoted } from "./text.ts";
import { readMemoryLimits, sectionIds } from "./wasm-sections.ts";
import type { WasmSection } from "./wasm-sections.ts";
import { readInterface } from "./wasm-signatures.ts";
import type { WasmExport, WasmImport } from "./wasm-signatures.ts";

/** The capabilities that the tools of a family need together. */
export function capabilitiesOf(tools: Manifest["tools"] | readonly { rights: readonly string[] }[]): CapabilityName[] {
  const needed = new Set<string>(tools.flatMap((tool) => [...tool.rights]));
  return capabilityNames.filter((name) => needed.has(capabilityRights[name]));
}

/** What a module imports and exports, in an engine's words. */
export interface PluginShape {
  readonly imports: readonly Omit<WasmImport, "signature">[];
  readonly exports: readonly Omit<WasmExport, "signature">[];
  readonly sections: readonly WasmSection[];
}

/**
 * One sentence that names the first difference, or `null` when there is none.
 *
 * Throws `UnreadableWasm` for sections that are malformed or hold more than a plugin may.
 */
export function describeMismatch(manifest: Manifest, shape: PluginShape): string | null {
  return (
    importMismatch(manifest, shape.imports) ??
    exportMismatch(manifest, shape.exports) ??
    memoryMismatch(manifest, shape.sections) ??
    signatureMismatch(shape.sections) ??
    budgetMismatch(manifest)
  );
}

/** The same, before an engine has looked at it. */
export function describeEarlyMismatch(manifest: Manifest, sections: readonly WasmSection[]): string | null {
  return describeMismatch(manifest, { ...readInterface(sections), sections });
}

function importMismatch(manifest: Manifest, imports: PluginShape["imports"]): string | null {
  const granted: ReadonlySet<string> = new Set(capabilitiesOf(manifest.tools));
  const present = new Set<string>();
  for (const { module, name, kind } of imports) {
    const isKernel = module === kernelModule && Object.hasOwn(kernelSignatures, name);
    const isCapability = module === capabilityModule && granted.has(name);
    if (kind !== "function" || (!isKernel && !isCapability)) {
      return `it imports ${kind} ${quoted(module)} ${quoted(name)}, which its manifest does not account for`;
    }
    if (present.has(name)) return `it imports ${quoted(`${module} ${name}`)} twice`;
    present.add(name);
  }
  const missing = [...granted].find((name) => !present.has(name));
  return missing ? `its manifest asks for "${missing}", which it does not import` : null;
}

function exportMismatch(manifest: Manifest, exports: PluginShape["exports"]): string | null {
  const expected = new Map<string, string>([["memory", "memory"]]);
  for (const tool of manifest.tools) expected.set(tool.export, "function");
  const unexpected = exports.find(({ name, kind }) => expected.get(name) !== kind);
  if (unexpected) {
    return `it exports ${unexpected.kind} ${quoted(unexpected.name)}, which its manifest does not name`;
  }
  const present = new Set(exports.map(({ name }) => name));
  const missing = [...expected.keys()].find((name) => !present.has(name));
  return missing ? `its manifest names "${missing}", which it does not export` : null;
}

function memoryMismatch(manifest: Manifest, sections: readonly WasmSection[]): string | null {
  if (sections.some((section) => section.id === sectionIds.start)) {
    return "it has a start function, which would run outside any call";
  }
  const [memory] = readMemoryLimits(sections);
  if (!memory) return "it does not define exactly one memory";
  const { min, max } = manifest.memoryPages;
  if (memory.min !== min || memory.max !== max) {
    return `its memory is ${memory.min} to ${memory.max ?? "unlimited"} pages, its manifest says ${min} to ${max}`;
  }
  if (min >= max || max > guestLimits.memoryPagesMax) {
    return `its memory is ${min} to ${max} pages, allowed are fewer at first than at last and at most ${guestLimits.memoryPagesMax}`;
  }
  return null;
}

/** Other hosts link by type and would refuse what an engine in JavaScript lets pass until it is called. */
function signatureMismatch(sections: readonly WasmSection[]): string | null {
  const { imports, exports } = readInterface(sections);
  for (const { module, name, signature } of imports) {
    const expected = module === kernelModule ? kernelSignatures[name] : capabilitySignature;
    if (signature !== expected) return `it imports "${module} ${name}" as ${signature}, allowed is ${expected}`;
  }
  const wrong = exports.find(({ kind, signature }) => kind === "function" && signature !== toolSignature);
  return wrong ? `it exports "${wrong.name}" as ${wrong.signature}, allowed is ${toolSignature}` : null;
}

/** A manifest may ask for less than the policy allows, and never for nothing, which would mean no bound. */
function budgetMismatch({ fuelPolls, deadlineMs }: Manifest): string | null {
  const { fuelPollsMax, deadlineMs: deadlineMsMax } = guestLimits;
  if (fuelPolls < 1 || fuelPolls > fuelPollsMax) {
    return `its manifest asks for ${fuelPolls} polls of fuel, allowed are 1 to ${fuelPollsMax}`;
  }
  if (deadlineMs < 1 || deadlineMs > deadlineMsMax) {
    return `its manifest asks for a deadline of ${deadlineMs} ms, allowed are 1 to ${deadlineMsMax}`;
  }
  return null;
}
