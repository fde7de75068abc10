/**
 * Checks that a module's imports, exports and memory are exactly what its manifest says, and that people can read the
 * whole manifest.
 *
 * The build checks what it made, and the host what it loads. The host checks the bytes first, so that no engine
 * compiles a refused file, and then the compiled module. A loader needs only the first difference, a reviewer all of
 * them, so clauses are generated one by one, always in the same order.
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
import { readFuelGlobal } from "./fuel-section.ts";
import { capabilityMeanings } from "./import-meanings.ts";
import { guestLimits, pluginLimits } from "./limits.ts";
import { exportsOf } from "./manifest.ts";
import type { Manifest } from "./manifest.ts";
import { codeClauses } from "./plugin-codes.ts";
import { roleClauses } from "./plugin-roles.ts";
import { storeClauses } from "./plugin-stores.ts";
import { wordClauses } from "./plugin-words.ts";
import { quoted } from "./text.ts";
import { readerOf, readMemoryLimits, sectionIds, UnreadableWasm } from "./wasm-sections.ts";
import type { WasmSection } from "./wasm-sections.ts";
import { readInterface } from "./wasm-signatures.ts";
import type { WasmExport, WasmImport } from "./wasm-signatures.ts";

/** The capabilities that the tools of a family need together. */
export function capabilitiesOf(tools: Manifest["tools"] | readonly { rights: readonly string[] }[]): CapabilityName[] {
  const needed = new Set<string>(tools.flatMap((tool) => [...tool.rights]));
  return capabilityNames.filter((name) => needed.has(capabilityRights[name]));
}

/** What a module imports and exports, as an engine's reflection reports it. */
export interface PluginShape {
  readonly imports: readonly Omit<WasmImport, "signature">[];
  readonly exports: readonly Omit<WasmExport, "signature">[];
  readonly sections: readonly WasmSection[];
}

/** Returns a clause about "it" that names the first difference, or `null`. Never throws. */
export function describeMismatch(manifest: Manifest, shape: PluginShape): string | null {
  for (const clause of differences(manifest, shape.sections, () => shape)) return clause;
  return null;
}

/**
 * Returns all differences that the bytes show, as clauses about "it": the one for which a host refuses the file, then
 * the others. At most `pluginLimits.deviationsMax`, and one that counts the rest. Without a manifest: the differences
 * that would be wrong with any manifest. Never throws: an unreadable part gives a clause.
 */
export function describeDeviations(manifest: Manifest | null, sections: readonly WasmSection[]): string[] {
  const clauses = [...new Set(differences(manifest, sections, () => readInterface(sections)))];
  const { deviationsMax } = pluginLimits;
  const left = clauses.length - deviationsMax;
  return left > 0 ? [...clauses.slice(0, deviationsMax), `it deviates in ${left} more ways`] : clauses;
}

function* differences(
  manifest: Manifest | null,
  sections: readonly WasmSection[],
  readNames: () => Omit<PluginShape, "sections">,
): Generator<string> {
  yield* orUnreadable(() => nameClauses(manifest, readNames()));
  yield* orUnreadable(() => memoryClauses(manifest, sections));
  yield* orUnreadable(() => signatureClauses(manifest, sections));
  yield* orUnreadable(() => countClauses(sections));
  yield* orUnreadable(() => fuelClauses(sections));
  if (!manifest) return;
  yield* budgetClauses(manifest);
  yield* repetitionClauses(manifest);
  yield* codeClauses(manifest);
  yield* storeClauses(manifest);
  yield* roleClauses(manifest);
  yield* wordClauses(manifest);
}

/** Turns an unreadable or oversized section into a clause, so that the checks of other sections still run. */
function* orUnreadable(clausesOf: () => Iterable<string>): Generator<string> {
  try {
    yield* clausesOf();
  } catch (error) {
    if (!(error instanceof UnreadableWasm)) throw error;
    yield error.message;
  }
}

function* nameClauses(manifest: Manifest | null, names: Omit<PluginShape, "sections">): Generator<string> {
  yield* importClauses(manifest, names.imports);
  if (manifest) yield* exportClauses(manifest, names.exports);
}

function* importClauses(manifest: Manifest | null, imports: PluginShape["imports"]): Generator<string> {
  const granted: ReadonlySet<string> = new Set(manifest ? capabilitiesOf(manifest.tools) : capabilityNames);
  const present = new Set<string>();
  for (const each of imports) {
    const { module, name, kind } = each;
    const isKernel = module === kernelModule && Object.hasOwn(kernelSignatures, name);
    const isCapability = module === capabilityModule && granted.has(name);
    if (kind !== "function" || (!isKernel && !isCapability)) {
      const unaccounted = manifest ? ", which its manifest does not account for" : "";
      yield `it imports ${kind} ${quoted(module)} ${quoted(name)}${unaccounted}: ${whyNot(each)}`;
    } else if (present.has(name)) yield `it imports ${quoted(`${module} ${name}`)} twice`;
    present.add(name);
  }
  if (!manifest) return;
  for (const name of granted) {
    if (!present.has(name)) yield `its manifest asks for "${name}", which it does not import`;
  }
}

/** Says why the manifest does not account for an import, and what the import does. */
function whyNot({ module, name, kind }: PluginShape["imports"][number]): string {
  if (kind !== "function") return "a plugin may import functions only";
  if (module === kernelModule) return "the ABI has no kernel function of that name";
  if (module !== capabilityModule) return "no plugin may import from that module";
  const capability = capabilityNames.find((each) => each === name);
  if (!capability) return "the ABI has no capability of that name";
  return `it ${capabilityMeanings[capability]}, and no tool asks for the right "${capabilityRights[capability]}"`;
}

/** The name that Haskell's modules begin with. All others that hosts run on their own cannot be names of exports. */
const runBeforeCalls = "hs_init";

function* exportClauses(manifest: Manifest, exports: PluginShape["exports"]): Generator<string> {
  const expected = new Map<string, string>([["memory", "memory"]]);
  for (const tool of manifest.tools) {
    for (const name of exportsOf(tool)) {
      if (name === "memory") yield `its manifest gives the tool "${tool.name}" the export of its memory`;
      else if (name === runBeforeCalls) yield `it exports "${name}", which Extism runs before any call`;
      else expected.set(name, "function");
    }
  }
  for (const { name, kind } of exports) {
    if (expected.get(name) !== kind) yield `it exports ${kind} ${quoted(name)}, which its manifest does not name`;
  }
  const present = new Set(exports.map(({ name }) => name));
  for (const name of expected.keys()) {
    if (!present.has(name)) yield `its manifest names "${name}", which it does not export`;
  }
}

function* memoryClauses(manifest: Manifest | null, sections: readonly WasmSection[]): Generator<string> {
  if (sections.some((section) => section.id === sectionIds.start)) {
    yield "it has a start function, which would run outside any call";
  }
  const [memory] = readMemoryLimits(sections);
  if (!memory) return yield "it does not define exactly one memory";
  if (!manifest) return;
  const { min, max } = manifest.memoryPages;
  const { memoryPagesMax } = guestLimits;
  if (memory.min !== min || memory.max !== max) {
    yield `its memory is ${memory.min} to ${memory.max ?? "unlimited"} pages, its manifest says ${min} to ${max}`;
  }
  if (min >= max || max > memoryPagesMax) {
    yield `its memory is ${min} to ${max} pages, allowed are fewer at first than at last and at most ${memoryPagesMax}`;
  }
}

/** Other hosts check types when they link. A JavaScript engine accepts most wrong types until the function is called. */
function* signatureClauses(manifest: Manifest | null, sections: readonly WasmSection[]): Generator<string> {
  const { imports, importsUnread, exports } = readInterface(sections);
  for (const { module, name, kind, signature } of imports) {
    const expected = kind === "function" ? signatureOf(module, name) : null;
    if (expected !== null && signature !== expected) {
      yield `it imports "${module} ${name}" as ${signature}, allowed is ${expected}`;
    }
  }
  // Function indices start with the imports. If some imports are unread, the types of later functions are unknown.
  if (importsUnread > 0) return yield `it imports ${importsUnread} more behind what is no function, which are not read`;
  for (const { name, kind, signature } of exports) {
    const isTool = manifest?.tools.some((tool) => exportsOf(tool).includes(name)) ?? false;
    if (kind === "function" && isTool && signature !== toolSignature) {
      yield `it exports "${name}" as ${signature}, allowed is ${toolSignature}`;
    }
  }
}

/** Returns `null` for an unknown import, for which there is a clause already. */
function signatureOf(module: string, name: string): string | null {
  if (module === capabilityModule) return Object.hasOwn(capabilityRights, name) ? capabilitySignature : null;
  const entry = Object.entries(kernelSignatures).find(([each]) => each === name);
  return module === kernelModule && entry ? entry[1] : null;
}

/** Bounds the parts that the host lists in order to reset an instance. */
function* countClauses(sections: readonly WasmSection[]): Generator<string> {
  const { tablesMax, globalsMax, segmentsMax } = pluginLimits;
  const bounds = [
    ["tables", sectionIds.table, tablesMax],
    ["globals", sectionIds.global, globalsMax],
    ["element segments", sectionIds.element, segmentsMax],
    ["data segments", sectionIds.data, segmentsMax],
  ] as const;
  for (const [what, id, countMax] of bounds) {
    const count = readerOf(sections, id).u32();
    if (count > countMax) yield `it has ${count} ${what}, at most ${countMax} allowed`;
  }
}

/** The fuel section is optional, but must be valid. Throws `UnreadableWasm`. */
function fuelClauses(sections: readonly WasmSection[]): string[] {
  readFuelGlobal(sections);
  return [];
}

/** A manifest can ask for less than the limit, but not for 0, which would mean no bound. */
function* budgetClauses({ fuelPolls, deadlineMs }: Manifest): Generator<string> {
  const { fuelPollsMax, deadlineMs: deadlineMsMax } = guestLimits;
  if (fuelPolls < 1 || fuelPolls > fuelPollsMax) {
    yield `its manifest asks for ${fuelPolls} polls of fuel, allowed are 1 to ${fuelPollsMax}`;
  }
  if (deadlineMs < 1 || deadlineMs > deadlineMsMax) {
    yield `its manifest asks for a deadline of ${deadlineMs} ms, allowed are 1 to ${deadlineMsMax}`;
  }
}

/** A name must identify one tool with one set of rights. */
function* repetitionClauses({ tools }: Manifest): Generator<string> {
  const names = tools.map(({ name }) => name);
  const repeated = new Set(names.filter((name, at) => names.indexOf(name) !== at));
  for (const name of repeated) yield `its manifest names the tool "${name}" more than once`;
}
