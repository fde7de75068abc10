/** 6. Searches of a journal of 10,000 blocks and of 20 stores with 1,000 entries, in one thread and without commit. */
import { join } from "node:path";

import { createRuntime, storeIdOf } from "memcell";

import { capabilityNames } from "../../shared/abi.ts";
import type { DecidedStores, StoreId } from "../stage/store.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { writeUserFiles } from "../support/user-files.ts";
import { expectOk } from "./entry.ts";
import { bounds, figureOf } from "./figures.ts";
import { journalFiles } from "./journal-files.ts";
import type { Section } from "./results.ts";
import { callEnvironments, restoredGuest, storeEnvironments } from "./sandbox/guest.ts";
import type { CallEnvironment, Capabilities, ToolCall } from "./sandbox/guest.ts";
import { takeTurns } from "./take-turns.ts";
import type { BenchRun } from "./take-turns.ts";

interface Search {
  readonly key: string;
  readonly name: string;
  readonly input: object;
  readonly open: () => CallEnvironment;
}

export async function measureSearches(run: BenchRun): Promise<Section> {
  const inJournal = await journal(join(run.folder, "journal"));
  const inStores = await stores(join(run.folder, "stores"), run.isQuick ? 5 : 20);
  const tables = [
    {
      key: "journal-guest",
      title: "A journal: the guest's own time",
      searches: inJournal,
      bound: bounds.journalSearch,
    },
    { key: "stores-guest", title: "Stores: the guest's own time", searches: inStores, bound: bounds.storesSearch },
  ];
  const ways = { journal: await restoredGuest("journal"), stores: await restoredGuest("stores") };
  const contestants = tables.flatMap(({ searches }) =>
    searches.map(({ key, input, open }) => {
      const way = searches === inJournal ? ways.journal : ways.stores;
      const tool = searches === inJournal ? "memory_search" : "memory";
      const call = { tool, exportName: "memory_search", input: JSON.stringify(input) };
      return {
        key,
        prepare: async () => way.prepare?.(),
        run: () => guestMs(open, (more) => way.run({ ...call, ...more })),
      };
    }),
  );
  const found = await takeTurns(run, contestants, { passes: 1, block: run.isQuick ? 1 : 2 });
  return {
    number: 6,
    title: "Searches",
    notes: [
      "no threads, no locks, no commit; access to stores is decided beforehand",
      "the guest's own: without the time in which the host reads and lists files",
      "the journal has 365 daily files of 2 MB together; the stores have 1,000 entries of 4 KB together, and indexes",
    ],
    tables: tables.map(({ key, title, searches, bound }) => ({
      key,
      title,
      unit: "ms",
      figures: searches.map((each) => figureOf({ key: each.key, name: each.name, rounds: found(each.key), bound })),
    })),
  };
}

/** The time of a call without the host's part. */
async function guestMs(
  open: () => CallEnvironment,
  run: (call: Pick<ToolCall, "environment">) => Promise<void>,
): Promise<number> {
  using environment = open();
  let hostMs = 0;
  const timed = capabilityNames.map((name) => [
    name,
    (request: string) => {
      const startMs = performance.now();
      try {
        return environment.capabilities[name](request);
      } finally {
        hostMs += performance.now() - startMs;
      }
    },
  ]);
  const capabilities = Object.fromEntries(timed) as Capabilities;
  const startMs = performance.now();
  await run({ environment: { ...environment, capabilities } });
  return performance.now() - startMs - hostMs;
}

async function journal(dataDir: string): Promise<Search[]> {
  writeUserFiles(dataDir, { ascii: journalFiles("release"), "not-ascii": journalFiles("日本語") });
  const environmentFor = callEnvironments(dataDir, ["journal"]);
  const search = (key: string, name: string, query: string, userId = "ascii"): Search => {
    return { key, name, input: { query, limit: 100 }, open: () => environmentFor(userId) };
  };
  return [
    search("some", "a word of 20 blocks", "needle"),
    search("all", "a word of all blocks", "common"),
    search("not-ascii", "a word of 20 blocks, none of them ASCII", "needle", "not-ascii"),
  ];
}

/** Entries as the tool itself writes them, with their search indexes. */
async function stores(dataDir: string, count: number): Promise<Search[]> {
  const users = Array.from({ length: count }, (_, at) => `agent-${at}`);
  await fillStores(dataDir, users);
  const ids = users.map((userId) => storeIdOf(userId) as StoreId);
  const [own = "" as StoreId] = ids;
  const reached = ids.map((id) => ({ id, level: "readwrite", source: id === own ? "self" : "grant" }) as const);
  const decided: DecidedStores = { own, stores: reached, isComplete: true, grants: [] };
  const open = storeEnvironments(dataDir, decided);
  const search = (key: string, name: string, query: string): Search => {
    return { key: `indexed-${key}`, name, input: { command: "search", query }, open };
  };
  return [
    search("some", "a word of 2 % of the entries", "needles"),
    search("several", "a question of ten words", "Which needle did dibacen take from the common ruvi, and why?"),
    search("all", "a word of all entries", "common"),
  ];
}

const entriesPerStore = 50;
const entryBytes = 4_096;
const wordsCount = 4_000;

async function fillStores(dataDir: string, users: readonly string[]): Promise<void> {
  const random = seededRandom(9);
  await using runtime = await createRuntime({ dataDir, plugins: ["stores"], threadsMax: 1, durability: "relaxed" });
  for (const userId of users) {
    for (let at = 0; at < entriesPerStore; at++) {
      const content = textOf(random, at === 7 ? "needle" : "straw");
      const input = { command: "create", path: `/memories/notes/entry-${at}.md`, content };
      await expectOk(runtime.call("memory", input, { userId }));
    }
  }
}

/** Words as frequent as in a natural text: the second half as frequent as the first, and so on. */
function textOf(random: () => number, rare: string): string {
  let text = `Common ${rare}.`;
  while (text.length < entryBytes) text += ` ${wordAt(Math.floor(wordsCount ** random()))}`;
  return text.slice(0, entryBytes);
}

const syllables = ["ba", "ce", "di", "fo", "gu", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "zo", "ku", "ha"];

const wordAt = (number: number): string =>
  [8, 4, 0].map((shift) => syllables[(number >> shift) & 15]).join("") + (number % 3 === 0 ? "ing" : "n");
