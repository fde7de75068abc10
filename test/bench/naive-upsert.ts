/**
 * How a careful program without sandbox and WAL stores two files durably: it writes each to a temporary file, flushes
 * and renames it, then flushes the folder.
 */
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";

import { KnownFolder } from "./entry.ts";

export class NaiveFolder {
  readonly #path: string;
  readonly #known = new KnownFolder();

  constructor(path: string) {
    mkdirSync(path, { recursive: true });
    this.#path = path;
  }

  upsert(at: number, round: number): void {
    for (const [name, text] of this.#known.change(at, round)) {
      const place = join(this.#path, name);
      const file = openSync(`${place}.tmp`, "w");
      writeSync(file, text);
      fsyncSync(file);
      closeSync(file);
      renameSync(`${place}.tmp`, place);
    }
    const folder = openSync(this.#path, "r");
    fsyncSync(folder);
    closeSync(folder);
  }
}
