import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { manifestSection } from "../../shared/manifest.ts";
import { readSections } from "../../shared/wasm-sections.ts";
import { customSection, writeModule } from "../../shared/wasm-writer.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const assembler = fileURLToPath(
  new URL("node_modules/binaryen/bin/wasm-as", import.meta.resolve("memcell/package.json")),
);

/** WebAssembly text to a plugin file with any texts as manifests: none, one, or too many. */
export function assembleGuest(text: string, manifests: readonly string[]): Uint8Array {
  using folder = temporaryFolder();
  const source = join(folder.path, "guest.wat");
  const target = join(folder.path, "guest.wasm");
  writeFileSync(source, text);
  execFileSync(process.execPath, [assembler, source, "-o", target, ...features]);
  const sections = readSections(readFileSync(target));
  const sealed = manifests.map((manifest) => customSection(manifestSection, new TextEncoder().encode(manifest)));
  return writeModule([...sections, ...sealed]);
}

/** What engines have had for long; without them the assembler refuses guests that the engine would run. */
const features = ["threads", "bulk-memory", "reference-types", "multivalue", "simd", "exception-handling"].map(
  (name) => `--enable-${name}`,
);
