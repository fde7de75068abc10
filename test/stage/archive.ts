/** Zip files as a person gets them, for tests that make and read them. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import type { MemoryFile } from "memcell";

import { readZip as openZip } from "../../host/archive/read-zip.ts";
import { OpenFile } from "../../host/disk/bounded-file.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

export { writeArchive } from "../../host/archive/archive-file.ts";
export { transferLimits } from "../../host/archive/transfer-limits.ts";
export { zipOf } from "../../host/archive/write-zip.ts";

/** All files of a zip file, with their contents. */
export async function readZip(bytes: Uint8Array): Promise<MemoryFile[]> {
  using folder = temporaryFolder();
  const place = join(folder.path, "a.zip");
  writeFileSync(place, bytes);
  const file = await OpenFile.open(place);
  try {
    const files: MemoryFile[] = [];
    for (const { bytes: size, read, ...each } of await openZip(file)) {
      const content = await read();
      if (content.length !== size)
        throw new RangeError(`${each.path} has ${content.length} bytes, and ${size} were told`);
      files.push({ ...each, content });
    }
    return files;
  } finally {
    await file.close();
  }
}
