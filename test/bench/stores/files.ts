/** Stores full of entries, as the tool itself writes them, with their search indexes and without. */
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, storeIdOf } from "memcell";

import type { DecidedStores, StoreId } from "../../stage/store.ts";
import { seededRandom } from "../../support/seeded-random.ts";

export interface Sizes {
  readonly stores: number;
  /** In each store. */
  readonly entries: number;
}

export interface Stage {
  /** Data folders with the same entries. */
  readonly indexed: string;
  readonly plain: string;
  readonly stores: DecidedStores;
}

const entryBytes = 4_096;
const wordsCount = 4_000;

export async function fillStores(folder: string, sizes: Sizes): Promise<Stage> {
  const [indexed, plain] = [join(folder, "indexed"), join(folder, "plain")];
  const users = Array.from({ length: sizes.stores }, (_, at) => `agent-${at}`);
  await write(indexed, users, sizes.entries);
  cpSync(indexed, plain, { recursive: true, preserveTimestamps: true });
  const ids = users.map((userId) => storeIdOf(userId) as StoreId);
  for (const id of ids) rmSync(join(plain, "stores", id, "entries", "_.index"), { recursive: true });
  const [own = "" as StoreId] = ids;
  const stores = ids.map((id) => ({ id, level: "readwrite", source: id === own ? "self" : "grant" }) as const);
  return { indexed, plain, stores: { own, stores, isComplete: true, grants: [] } };
}

async function write(dataDir: string, users: readonly string[], entries: number): Promise<void> {
  const random = seededRandom(9);
  await using runtime = await createRuntime({ dataDir, plugins: ["stores"], threadsMax: 1, durability: "relaxed" });
  for (const userId of users) {
    for (let at = 0; at < entries; at++) {
      const content = textOf(random, at % 50 === 7 ? "needle" : "straw");
      const input = { command: "create", path: `/memories/notes/entry-${at}.md`, content };
      const result = await runtime.call("memory", input, { userId });
      if (!result.ok) throw new Error(result.error.message);
    }
  }
}

/** The memory of one user, with as many entries of the same texts. */
export async function fillMemory(dataDir: string, entries: number): Promise<void> {
  const random = seededRandom(9);
  const folder = join(dataDir, "users", memoryUserId, "memory");
  mkdirSync(folder, { recursive: true });
  const lines: string[] = [];
  for (let at = 0; at < entries; at++) {
    const [name, description] = [`entry-${at}`, `What was said on day ${at}`];
    const time = new Date(Date.UTC(2026, 0, 1) + at * 60_000).toISOString();
    const fields = [
      `name: ${name}`,
      `description: ${description}`,
      "type: project",
      `created: '${time}'`,
      `updated: '${time}'`,
    ];
    const body = textOf(random, at % 50 === 7 ? "needle" : "straw");
    writeFileSync(join(folder, `${name}.md`), ["---", ...fields, "---", body].join("\n"));
    lines.push(`- [${name}](${name}.md) — ${description}\n`);
  }
  writeFileSync(join(folder, "MEMORY.md"), lines.join(""));
}

export const memoryUserId = "alice";

/** Words as frequent as in a natural text: the second half as frequent as the first, and so on. */
function textOf(random: () => number, rare: string): string {
  let text = `Common ${rare}.`;
  while (text.length < entryBytes) text += ` ${wordAt(Math.floor(wordsCount ** random()))}`;
  return text.slice(0, entryBytes);
}

const syllables = ["ba", "ce", "di", "fo", "gu", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "zo", "ku", "ha"];

const wordAt = (number: number): string =>
  [8, 4, 0].map((shift) => syllables[(number >> shift) & 15]).join("") + (number % 3 === 0 ? "ing" : "n");
