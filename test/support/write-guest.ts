import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Right } from "../../shared/abi.ts";
import type { Manifest } from "../../shared/manifest.ts";
import { assembleGuest } from "./assemble-guest.ts";
import { guestManifest } from "./guest-manifest.ts";

/** Assembles a guest of `test/guests/` into a folder and returns its path. */
export function writeGuest(
  folder: string,
  name: string,
  exportsByTool: Record<string, string>,
  rightsByTool: Record<string, readonly Right[]> = {},
): string {
  return writeSealedGuest(folder, guestManifest(name, exportsByTool, rightsByTool));
}

/** The same with a full manifest. */
export function writeSealedGuest(folder: string, manifest: Manifest): string {
  const file = join(folder, `${manifest.name}.wasm`);
  writeFileSync(file, assembleGuest(guestText(manifest.name), [JSON.stringify(manifest)]));
  return file;
}

/** The WebAssembly text of a guest of `test/guests/`. */
export function guestText(name: string): string {
  return readFileSync(new URL(`../guests/${name}.wat`, import.meta.url), "utf8");
}
