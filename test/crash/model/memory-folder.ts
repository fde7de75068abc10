import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Thousands of folders come and go, so they are made in memory where the system has such a place. */
const place = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

export function memoryFolder(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(place, "memcell-model-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
