/** The entries that every contestant stores, and the naive way to store them. */
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";

import type { ToolResult } from "memcell";

/** About 1 KB of text. */
export const body: string = "All that is known about it. ".repeat(36);

export const entryName = (at: number): string => `e${at}`;

/** Differs in each round, so that every upsert changes something. */
export const describe = (at: number, round: number): string => `What entry ${at} says in round ${round}`;

export function upsertInput(at: number, round: number): Record<string, string> {
  return { action: "upsert", name: entryName(at), type: "user", description: describe(at, round), body };
}

/** Throws unless a call succeeds. */
export async function expectOk(answer: Promise<ToolResult>): Promise<void> {
  const result = await answer;
  if (!result.ok) throw new Error(result.error.message);
}

export function entryText(at: number, description: string): string {
  return `---\nname: ${entryName(at)}\ndescription: ${description}\ntype: user\n---\n${body}`;
}

export const indexLine = (at: number, description: string): string =>
  `- [${entryName(at)}](${entryName(at)}.md) — ${description}\n`;

/** A folder's files for a program that remembers the descriptions and reads nothing back. */
export class KnownFolder {
  readonly #descriptions: string[] = [];

  /** The two files that an upsert changes: the entry's and the index. */
  change(at: number, round: number): [entry: [name: string, text: string], index: [name: string, text: string]] {
    const description = describe(at, round);
    this.#descriptions[at] = description;
    const lines = Array.from(this.#descriptions, (each, place) => indexLine(place, each ?? ""));
    return [
      [`${entryName(at)}.md`, entryText(at, description)],
      ["MEMORY.md", lines.join("")],
    ];
  }
}

/**
 * How a careful program without sandbox and journal stores two files durably: it writes each to a temporary file, flushes
 * and renames it, then flushes the folder.
 */
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
