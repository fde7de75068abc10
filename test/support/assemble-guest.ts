import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { threadId } from "node:worker_threads";

import { manifestSection } from "../../shared/manifest.ts";
import { readSections } from "../../shared/wasm-sections.ts";
import { customSection, writeModule } from "../../shared/wasm-writer.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const assembler = fileURLToPath(
  new URL("node_modules/binaryen/bin/wasm-as", import.meta.resolve("memcell/package.json")),
);
/** Outside the clone, so that another clone finds what is in it. */
const cache = join(tmpdir(), `memcell-guests-${process.getuid?.() ?? "all"}`);

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
  makeCache();
  if (existsSync(file)) return file;
  using folder = temporaryFolder();
  const source = join(folder.path, "guest.wat");
  writeFileSync(source, text);
  // Another test may be making the same file: it appears as a whole, under its name.
  const target = `${file}.${process.pid}-${threadId}`;
  execFileSync(process.execPath, [assembler, source, "-o", target, ...features]);
  renameSync(target, file);
  return file;
}

/** Another user of the machine may have made a folder of this name: what lies in it is not used. */
function makeCache(): void {
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  const { uid } = lstatSync(cache);
  if (uid !== (process.getuid?.() ?? uid)) throw new Error(`Cannot use ${cache}: it is another user's`);
}

function assemblerVersion(): string {
  const { version } = createRequire(import.meta.url)("binaryen/package.json") as { version: string };
  return version;
}

/** Features that engines have long had. Without these flags the assembler refuses guests that the engine would run. */
const features = ["threads", "bulk-memory", "reference-types", "multivalue", "simd", "exception-handling"].map(
  (name) => `--enable-${name}`,
);
