import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Vector } from "./vector.ts";

/** Whether the disk of a folder cannot do what a vector needs: the only ability is to tell names apart by case. */
export function diskLacks(_: NonNullable<Vector["needs"]>[number], folder: string): boolean {
  const place = mkdtempSync(join(folder, "names-"));
  try {
    writeFileSync(join(place, "a"), "");
    return existsSync(join(place, "A"));
  } finally {
    rmSync(place, { recursive: true });
  }
}
