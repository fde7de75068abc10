/**
 * Whether a module is exactly what its manifest says: imports, exports and memory, no more and no less.
 *
 * The build asks it of what it made, and the host of what it is about to load.
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
import { readMemoryLimits, sectionIds } from "./wasm-sections.ts";
import type { WasmSection } from "./wasm-sections.ts";
import { readSignatures } from "./wasm-signatures.ts";

/** The capabilities that the tools of a family need together. */
export function capabilitiesOf(tools: Manifest["tools"] | readonly { rights: readonly string[] }[]): CapabilityName[] {
  const needed = new Set<string>(tools.flatMap((tool) => [...tool.rights]));
  return capabilityNames.filter((name) => needed.has(capabilityRights[name]));
}

/** What an engine's reflection and the list of sections tell of a module. */
export interface PluginShape {
  readonly imports: readonly { readonly module: string; readonly name: string; readonly kind: string }[];
  readonly exports: readonly { readonly name: string; readonly kind: string }[];
  readonly sections: readonly WasmSection[];
}

/** One sentence that names the first difference, or `null` when there is none. */
export function describeMismatch(manifest: Manifest, shape: PluginShape): string | null {
  return (
    importMismatch(manifest, shape.imports) ??
    exportMismatch(manifest, shape.exports) ??
    memoryMismatch(manifest, shape.sections) ??
    signatureMismatch(manifest, shape.sections)
  );
}

function importMismatch(manifest: Manifest, imports: PluginShape["imports"]): string | null {
  const granted: string[] = capabilitiesOf(manifest.tools);
  const names = imports.map(({ module, name }) => `${module} ${name}`);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice) return `it imports "${twice}" twice`;
  for (const { module, name, kind } of imports) {
    const isKernel = module === kernelModule && Object.hasOwn(kernelSignatures, name);
    const isCapability = module === capabilityModule && granted.includes(name);
    if (kind !== "function" || (!isKernel && !isCapability)) {
      return `it imports ${kind} "${module}" "${name}", which its manifest does not account for`;
    }
  }
  const missing = granted.find(
    (name) => !imports.some((each) => each.module === capabilityModule && each.name === name),
  );
  return missing ? `its manifest asks for "${missing}", which it does not import` : null;
}

function exportMismatch(manifest: Manifest, exports: PluginShape["exports"]): string | null {
  const expected = new Map<string, string>([["memory", "memory"]]);
  for (const tool of manifest.tools) expected.set(tool.export, "function");
  const unexpected = exports.find(({ name, kind }) => expected.get(name) !== kind);
  if (unexpected) return `it exports ${unexpected.kind} "${unexpected.name}", which its manifest does not name`;
  const missing = [...expected.keys()].find((name) => !exports.some((each) => each.name === name));
  return missing ? `its manifest names "${missing}", which it does not export` : null;
}

function memoryMismatch(manifest: Manifest, sections: readonly WasmSection[]): string | null {
  if (sections.some((section) => section.id === sectionIds.start)) {
    return "it has a start function, which would run outside any call";
  }
  const [memory, ...others] = readMemoryLimits(sections);
  if (!memory || others.length > 0) return "it does not define exactly one memory";
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
function signatureMismatch(manifest: Manifest, sections: readonly WasmSection[]): string | null {
  const signatures = readSignatures(sections);
  for (const [name, signature] of signatures.imports) {
    const [module, field = ""] = name.split(" ");
    const expected = module === kernelModule ? kernelSignatures[field] : capabilitySignature;
    if (signature !== expected) return `it imports "${name}" as ${signature}, allowed is ${expected}`;
  }
  const wrong = manifest.tools.find((tool) => signatures.exports.get(tool.export) !== toolSignature);
  if (!wrong) return null;
  return `it exports "${wrong.export}" as ${signatures.exports.get(wrong.export)}, allowed is ${toolSignature}`;
}
