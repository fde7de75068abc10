import { execFileSync } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { manifestSection } from "../../shared/manifest.ts";
import { readSections } from "../../shared/wasm-sections.ts";
import { customSection, writeModule } from "../../shared/wasm-writer.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const assembler = fileURLToPath(
  new URL("node_modules/binaryen/bin/wasm-as", import.meta.resolve("memcell/package.json")),
);
/** Inside the clone, where no other user of the machine can put a file. `npm ci` empties it. */
const cache = fileURLToPath(new URL("node_modules/.cache/guests", import.meta.resolve("memcell/package.json")));

/** Assembles WebAssembly text into a plugin file with the given manifests: none, one, or too many. */
export function assembleGuest(text: string, manifests: readonly string[]): Uint8Array {
  const sections = readSections(readFileSync(assembled(text)));
  const sealed = manifests.map((manifest) => customSection(manifestSection, new TextEncoder().encode(manifest)));
  return writeModule([...sections, ...sealed]);
}

/**
 * The module's file. The assembler is a process that takes a quarter of a second, so the cache keeps what it has made. A
 * file's name is a digest of all that it was made from.
 */
function assembled(text: string): string {
  const key = createHash("sha256")
    .update(JSON.stringify([assemblerVersion(), features, text]))
    .digest("hex");
  const file = join(cache, `${key}.wasm`);
  if (existsSync(file)) return file;
  using folder = temporaryFolder();
  const source = join(folder.path, "guest.wat");
  writeFileSync(source, text);
  // Another process can be making the same file, so it gets its name only when it is whole.
  mkdirSync(cache, { recursive: true });
  const target = `${file}.${randomUUID()}`;
  execFileSync(process.execPath, [assembler, source, "-o", target, ...features]);
  renameSync(target, file);
  return file;
}

function assemblerVersion(): string {
  const { version } = createRequire(import.meta.url)("binaryen/package.json") as { version: string };
  return version;
}

/** Features that engines have long had. Without these flags the assembler refuses guests that the engine would run. */
const features = ["threads", "bulk-memory", "reference-types", "multivalue", "simd", "exception-handling"].map(
  (name) => `--enable-${name}`,
);
