/** One of many callers that edit the same stores. Each edit adds a line to the log of each store that it names. */
import { scopeOfStore } from "../stage/store.ts";
import type { HeldStores, SharedStores, StoreId, UserId } from "../stage/store.ts";

export interface SharerReport {
  /** The acknowledged edits: the lines, each with the stores that have it. */
  readonly lines: readonly string[];
  /** How often a reader's work ran, and how often it was needed. */
  readonly reads: number;
  readonly readRuns: number;
  readonly faults: readonly string[];
}

const letters = "abcde";
export const sharedStores: readonly StoreId[] = Array.from(
  letters,
  (_, at) => `0000000${at}-1234-4abc-8abc-000000000000` as StoreId,
);
const storeOf = (letter: string): StoreId => sharedStores[letters.indexOf(letter)] as StoreId;

/** Makes the edits one after the other. After every fifth it reads all stores. `id` is unique among all callers. */
export async function shareStores(
  stores: SharedStores,
  id: string,
  editsCount: number,
  random: () => number,
): Promise<SharerReport> {
  const lines: string[] = [];
  const faults: string[] = [];
  let [reads, readRuns] = [0, 0];
  for (let count = 0; count < editsCount; count++) {
    const named = chooseStores(random);
    const line = `${id} ${count} ${named}`;
    const ids = Array.from(named, storeOf);
    await stores.hold(ids, { writes: true, until: until() }, async (held) => {
      const logs = await Promise.all(ids.map((each) => logOf(held, each)));
      const changes = ids.map((each, at) => {
        const content = `${logs[at] ?? ""}${line}\n`;
        return { kind: "write", scope: scopeOfStore(each), path: "log.md", content } as const;
      });
      await held.commit({ by: "someone" as UserId, changes, seen: held.seen });
    });
    lines.push(line);
    if (count % 5 > 0) continue;
    reads++;
    const halves = await stores.hold(sharedStores, { writes: false, until: until() }, (held) => {
      readRuns++;
      return halfEdits(held);
    });
    faults.push(...halves.map((half) => `${id} has read half of ${half}`));
  }
  return { lines, reads, readRuns, faults };
}

/** One that waits longer would starve. */
const until = (): number => performance.now() + 60_000;

/** One store, or two or three different ones in any order. */
function chooseStores(random: () => number): string {
  const left = Array.from(letters);
  const count = 1 + Math.floor(random() * 3);
  return Array.from({ length: count }, () => left.splice(Math.floor(random() * left.length), 1)).join("");
}

async function logOf(held: HeldStores, id: StoreId): Promise<string> {
  return Buffer.from((await held.reader(id).bytesOf("entries", "log.md")) ?? []).toString();
}

/** The lines that are not in all stores that they name. */
async function halfEdits(held: HeldStores): Promise<string[]> {
  const logs = new Map<string, Set<string>>();
  for (const letter of letters) logs.set(letter, new Set((await logOf(held, storeOf(letter))).split("\n")));
  const lines = new Set(Array.from(logs.values()).flatMap((log) => Array.from(log)));
  return [...lines].filter((line) => {
    const named = line === "" ? [] : Array.from(line.split(" ").at(-1) ?? "");
    return named.some((letter) => !logs.get(letter)?.has(line));
  });
}
