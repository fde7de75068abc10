/** How a program without sandbox keeps runs: one file of JSON lines for each, flushed after each append. */
import { closeSync, fstatSync, fsyncSync, mkdirSync, openSync, readFileSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";

import type { RunEvent } from "./event.ts";

export class NaiveRuns {
  readonly #folder: string;

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    this.#folder = folder;
  }

  append(run: string, events: readonly RunEvent[]): void {
    const file = openSync(this.#fileOf(run), "a");
    writeSync(file, events.map((event) => `${JSON.stringify(event)}\n`).join(""));
    fsyncSync(file);
    closeSync(file);
  }

  load(run: string): RunEvent[] {
    return inTime(readFileSync(this.#fileOf(run), "utf8"));
  }

  /** What was appended after the file had this many bytes. */
  loadSince(run: string, bytes: number): RunEvent[] {
    const file = openSync(this.#fileOf(run), "r");
    const fresh = Buffer.alloc(fstatSync(file).size - bytes);
    readSync(file, fresh, 0, fresh.length, bytes);
    closeSync(file);
    return inTime(fresh.toString());
  }

  bytesOf(run: string): number {
    return readFileSync(this.#fileOf(run)).length;
  }

  #fileOf(run: string): string {
    return join(this.#folder, `${run}.jsonl`);
  }
}

function inTime(text: string): RunEvent[] {
  const events = text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as RunEvent);
  return events.toSorted((a, b) => (a.timestamp < b.timestamp ? -1 : a.timestamp > b.timestamp ? 1 : 0));
}
