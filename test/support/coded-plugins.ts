/** Plugins with error codes of their own. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { PluginError } from "../../shared/manifest.ts";
import { assembleGuest } from "./assemble-guest.ts";
import { guestManifest } from "./guest-manifest.ts";
import { manifestOf, resealPlugin } from "./reseal-plugin.ts";
import { testPlugin } from "./test-plugin.ts";
import { guestText } from "./write-guest.ts";

/** The puppet, which says what it is told to, with codes declared. */
export function writeCodedPuppet(folder: string, errors: readonly PluginError[]): string {
  const wasm = readFileSync(testPlugin("puppet"));
  const file = join(folder, "puppet.wasm");
  writeFileSync(file, resealPlugin(wasm, { ...manifestOf(wasm), errors: [...errors] }));
  return file;
}

/** A plugin of another name with one tool, whose answer is the error that its input is. */
export function writeCodedReporter(folder: string, tool: string, errors: readonly PluginError[]): string {
  const manifest = { ...guestManifest("reporter", { [tool]: "error_and_code_1" }), errors: [...errors] };
  const file = join(folder, "reporter.wasm");
  // What its manifest does not name it must not export.
  const text = guestText("answerer").replaceAll(/\(export "(?!memory"|error_and_code_1")\w+"\)/g, "");
  writeFileSync(file, assembleGuest(text, [JSON.stringify(manifest)]));
  return file;
}
