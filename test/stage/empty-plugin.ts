/** Plugin files that have the manifest of a test and no code, for tests of what a host makes of a manifest. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { capabilityRights } from "../../shared/abi.ts";
import type { Manifest } from "../../shared/manifest.ts";
import { assembleGuest } from "../support/assemble-guest.ts";

/** Writes the file and returns its path. It imports what its rights allow, and each export returns at once. */
export function writeEmptyPlugin(folder: string, manifest: Manifest): string {
  const rights = new Set(manifest.tools.flatMap((tool) => tool.rights));
  const imported = Object.entries(capabilityRights).flatMap(([name, right]) =>
    rights.has(right) ? [`(import "extism:host/user" "${name}" (func (param i64) (result i64)))`] : [],
  );
  const exported = manifest.tools.flatMap((tool) => (tool.commands ?? [tool]).map((each) => each.export ?? ""));
  const functions = [...new Set(exported)].map((name) => `(func (export "${name}") (result i32) (i32.const 0))`);
  const { min, max } = manifest.memoryPages;
  const parts = [...imported, `(memory (export "memory") ${min} ${max})`, ...functions];
  const file = join(folder, `${manifest.name}.wasm`);
  writeFileSync(file, assembleGuest(`(module ${parts.join("\n")})`, [JSON.stringify(manifest)]));
  return file;
}
