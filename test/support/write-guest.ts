import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { assembleGuest } from "./assemble-guest.ts";
import { guestManifest } from "./guest-manifest.ts";

/** Assembles a guest of `test/guests/` into a folder and returns its file. */
export function writeGuest(folder: string, name: string, exportsByTool: Record<string, string>): string {
  const file = join(folder, `${name}.wasm`);
  const text = readFileSync(new URL(`../guests/${name}.wat`, import.meta.url), "utf8");
  writeFileSync(file, assembleGuest(text, [JSON.stringify(guestManifest(name, exportsByTool))]));
  return file;
}
