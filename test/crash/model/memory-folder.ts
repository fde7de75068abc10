import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The model creates thousands of folders, so it uses a file system in memory if there is one. */
const place = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

export function memoryFolder(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(place, "memcell-model-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
