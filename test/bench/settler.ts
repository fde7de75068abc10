import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";

/** Flushes the folder's disk as far as one file's flush does: on ext4, the journal with all that waits. */
export function settler(folder: string): Disposable & { readonly settle: () => void } {
  const file = openSync(join(folder, "settle"), "a");
  return {
    settle: () => {
      writeSync(file, "x");
      fsyncSync(file);
    },
    [Symbol.dispose]: () => closeSync(file),
  };
}
