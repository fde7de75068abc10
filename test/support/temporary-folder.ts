import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A fresh folder that is removed at the end of its block. */
export function temporaryFolder(above: string = tmpdir()): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(above, "memcell-test-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
