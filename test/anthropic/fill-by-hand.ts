import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import type { MemcellInTest } from "./two-tools.ts";

/** The folder of alice's entries. */
export async function entriesFolder({ runtime, dataDir }: MemcellInTest): Promise<string> {
  const [own] = await runtime.stores({ userId: "alice" }).list();
  return join(dataDir, "stores", own?.id ?? "", "entries");
}

/** Puts files there as a person does, by their paths in that folder. */
export async function putByHand(memcell: MemcellInTest, files: Readonly<Record<string, string>>): Promise<void> {
  const folder = await entriesFolder(memcell);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** The files `p/0000.md`, `p/0001.md` and so on. */
export async function fillByHand(memcell: MemcellInTest, count: number, text: string): Promise<void> {
  const names = Array.from({ length: count }, (_, at) => `p/${String(at).padStart(4, "0")}.md`);
  await putByHand(memcell, Object.fromEntries(names.map((name) => [name, text])));
}
