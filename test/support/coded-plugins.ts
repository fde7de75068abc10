/** Plugins with their own error codes. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { PluginError } from "../../shared/manifest.ts";
import { assembleGuest } from "./assemble-guest.ts";
import { guestManifest } from "./guest-manifest.ts";
import { manifestOf, resealPlugin } from "./reseal-plugin.ts";
import { testPlugin } from "./test-plugin.ts";
import { guestText } from "./write-guest.ts";

/** Writes the puppet plugin with declared codes. */
export function writeCodedPuppet(folder: string, errors: readonly PluginError[]): string {
  const wasm = readFileSync(testPlugin("puppet"));
  const file = join(folder, "puppet.wasm");
  writeFileSync(file, resealPlugin(wasm, { ...manifestOf(wasm), errors: [...errors] }));
  return file;
}

/** Writes a plugin with another name and one tool, which returns its input as its error. */
export function writeCodedReporter(folder: string, tool: string, errors: readonly PluginError[]): string {
  const manifest = { ...guestManifest("reporter", { [tool]: "error_and_code_1" }), errors: [...errors] };
  const file = join(folder, "reporter.wasm");
  // A plugin must not export what its manifest does not name.
  const text = guestText("answerer").replaceAll(/\(export "(?!memory"|error_and_code_1")\w+"\)/g, "");
  writeFileSync(file, assembleGuest(text, [JSON.stringify(manifest)]));
  return file;
}
