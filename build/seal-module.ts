/**
 * Makes a sealed plugin from a module of another compiler and its family's declaration. It makes the same checks as the
 * build and the host, and reports all faults at once, with advice.
 */
import { createHash } from "node:crypto";

import { fuelSection } from "../shared/fuel-section.ts";
import { guestLimits } from "../shared/limits.ts";
import { defaultBudget, manifestSchema, manifestSection } from "../shared/manifest.ts";
import type { Family, Manifest } from "../shared/manifest.ts";
import { describeDeviations, describeMismatch } from "../shared/plugin-shape.ts";
import { customSections, readMemoryLimits, readSections, sectionIds } from "../shared/wasm-sections.ts";
import type { WasmSection } from "../shared/wasm-sections.ts";
import { customSection, writeModule } from "../shared/wasm-writer.ts";
import * as z from "../shared/zod.ts";
import { takeExports } from "./export-section.ts";
import { adviceFor } from "./seal-advice.ts";
import { makeManifest } from "./seal.ts";
import type { SealedPlugin } from "./seal.ts";

/** The kind of an exported global. Some linkers leave two unneeded ones. */
const globalKind = 3;

/** The fuel in the manifest of a module that counts none: the minimum, because only the deadline bounds it. */
const uncountedPolls = 1;

/**
 * Seals a module. Removes only parts that no call can notice: custom sections (names, debug information, an older
 * manifest) and exported globals. Throws an `Error` that names every fault and what to change.
 */
export async function sealModule(module: Uint8Array, family: Family): Promise<SealedPlugin> {
  const bare = withoutSurplus(readSections(module));
  const manifest = manifestFor(family, bare);
  const sections = [...bare, customSection(manifestSection, new TextEncoder().encode(JSON.stringify(manifest)))];
  const wasm = writeModule(sections);
  const clauses = describeDeviations(manifest, sections);
  if (clauses.length > 0) throw refusal(family.name, clauses);
  const compiled = await WebAssembly.compile(wasm);
  const [imports, exports] = [WebAssembly.Module.imports(compiled), WebAssembly.Module.exports(compiled)];
  const mismatch = describeMismatch(manifest, { imports, exports, sections });
  if (mismatch !== null) throw refusal(family.name, [mismatch]);
  return { wasm, manifest, sha256: createHash("sha256").update(wasm).digest("hex") };
}

function withoutSurplus(sections: readonly WasmSection[]): WasmSection[] {
  const [fuel] = customSections(sections, fuelSection);
  const working = sections.filter(({ id }) => id !== sectionIds.custom);
  const { sections: kept } = takeExports(working, ({ kind }) => kind === globalKind);
  return fuel ? [...kept, customSection(fuelSection, fuel)] : kept;
}

function manifestFor(family: Family, sections: readonly WasmSection[]): Manifest {
  const [memory = { min: 0, max: null }] = readMemoryLimits(sections);
  const memoryPages = { min: memory.min, max: memory.max ?? guestLimits.memoryPagesMax };
  const countsFuel = customSections(sections, fuelSection).length > 0;
  const fuelPolls = countsFuel ? defaultBudget.fuelPolls : uncountedPolls;
  const manifest = { ...makeManifest(family, memoryPages), fuelPolls };
  const parsed = z.safeParse(manifestSchema, JSON.parse(JSON.stringify(manifest)));
  if (parsed.success) return manifest;
  throw refusal(
    family.name,
    parsed.error.issues.map(({ path, message }) => `its family.ts has a wrong ${path.join(".")}: ${message}`),
  );
}

function refusal(name: string, clauses: readonly string[]): Error {
  const lines = clauses.map((clause) => {
    const advice = adviceFor(clause);
    return advice === null ? `  ${clause}` : `  ${clause}\n    → ${advice}`;
  });
  return new Error([`Cannot seal plugin "${name}":`, ...lines].join("\n"));
}
