import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Right } from "../../shared/abi.ts";
import { assembleGuest } from "./assemble-guest.ts";
import { guestManifest } from "./guest-manifest.ts";

/** Assembles a guest of `test/guests/` into a folder and returns its file. */
export function writeGuest(
  folder: string,
  name: string,
  exportsByTool: Record<string, string>,
  rightsByTool: Record<string, readonly Right[]> = {},
): string {
  const file = join(folder, `${name}.wasm`);
  const manifest = guestManifest(name, exportsByTool, rightsByTool);
  writeFileSync(file, assembleGuest(guestText(name), [JSON.stringify(manifest)]));
  return file;
}

/** The WebAssembly text of a guest of `test/guests/`. */
export function guestText(name: string): string {
  return readFileSync(new URL(`../guests/${name}.wat`, import.meta.url), "utf8");
}
