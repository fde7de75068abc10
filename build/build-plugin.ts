/** Builds a sealed plugin from a family's folder, in six steps. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { fuelSection } from "../shared/fuel-section.ts";
import { guestLimits } from "../shared/limits.ts";
import { defaultBudget, exportsOf } from "../shared/manifest.ts";
import { capabilitiesOf } from "../shared/plugin-shape.ts";
import { readSections } from "../shared/wasm-sections.ts";
import { writeModule } from "../shared/wasm-writer.ts";
import { bundlePlugin } from "./bundle.ts";
import { cutCompiler } from "./cut-compiler.ts";
import { engineWasmPath } from "./engine.ts";
import { familyGlue } from "./family-glue.ts";
import type { FamilySource } from "./family.ts";
import { pageBytes, writeImage } from "./image.ts";
import { linkModules, optimiseModule, reduceModule } from "./link.ts";
import { linkedPackages } from "./linked-packages.ts";
import type { LinkedPackages } from "./linked-packages.ts";
import { makeManifest, sealPlugin } from "./seal.ts";
import type { SealedPlugin } from "./seal.ts";
import { snapshotPlugin } from "./snapshot.ts";

export interface BuildOptions {
  /** `false` skips the optimiser: seconds faster, for plugins that only tests load. Default `true`. */
  readonly optimise?: boolean;
}

export interface BuiltPlugin extends SealedPlugin {
  readonly linked: LinkedPackages;
}

export async function buildPlugin(source: FamilySource, { optimise = true }: BuildOptions = {}): Promise<BuiltPlugin> {
  const { family, folder } = source;
  const capabilities = capabilitiesOf(family.tools);

  const bundle = await bundlePlugin(folder, family, capabilities);
  const snapshot = await snapshotPlugin(bundle, family);
  const memoryPages = { min: snapshot.memory.length / pageBytes, max: guestLimits.memoryPagesMax };
  const glue = familyGlue(family, capabilities, defaultBudget.fuelPolls, snapshot);

  const scratch = await mkdtemp(join(tmpdir(), "memcell-build-"));
  try {
    const image = join(scratch, "image.wasm");
    const engine = writeModule(await cutCompiler(readSections(await readFile(engineWasmPath))));
    await writeFile(image, writeImage(engine, snapshot.memory, memoryPages));
    const linked = await linkModules(scratch, image, glue);
    const roots = ["memory", fuelSection, ...family.tools.flatMap(exportsOf)];
    const reduced = await reduceModule(scratch, linked, roots);
    const optimised = await optimiseModule(scratch, reduced, optimise ? "-O2" : "-O0");
    const sealed = await sealPlugin(await readFile(optimised), makeManifest(family, memoryPages));
    return { ...sealed, linked: linkedPackages(bundle.files) };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
