import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A fresh folder that is removed at the end of its block. */
export function temporaryFolder(above: string = tmpdir()): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(above, "memcell-test-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** A file system in main memory, where a flush costs almost nothing, if there is one with room for many test disks. */
export function memoryDisk(): string {
  try {
    const { bavail, bsize } = statfsSync("/dev/shm");
    return bavail * bsize > 2 ** 31 ? "/dev/shm" : tmpdir();
  } catch {
    return tmpdir();
  }
}
