/** Random programs on a LangGraph store, compared with LangGraph's own store in main memory. */
import { InMemoryStore } from "@langchain/langgraph-checkpoint";
import type { BaseStore, Item, Operation } from "@langchain/langgraph-checkpoint";
import fc from "fast-check";
import { memoryStore } from "memcell";
import { memcellStore } from "memcell/langgraph";
import { afterAll, expect, test } from "vitest";

import { runs } from "../stage/random-runs.ts";
import { openStage } from "../stage/runtime.ts";

const stage = await openStage({ plugins: ["stores"], store: memoryStore(), threadsMax: 1 });
afterAll(() => stage[Symbol.asyncDispose]());
let users = 0;

const label = fc.constantFrom("a", "b", "c/d", "%", "users");
const namespace = fc.array(label, { minLength: 1, maxLength: 3 });
/** A long name takes the plugin two milliseconds. */
const key = fc.oneof(
  { weight: 19, arbitrary: fc.constantFrom("k", "l", "/notes/a.md", "ü", "trash") },
  { weight: 1, arbitrary: fc.constant("K".repeat(120)) },
);
const field = fc.oneof(
  fc.integer({ min: -3, max: 9 }),
  fc.constantFrom("red", "blue", "7"),
  fc.boolean(),
  fc.constant(null),
);
const value = fc.record({ n: field, c: field }, { requiredKeys: [] });
const number = fc.oneof(fc.integer({ min: -3, max: 9 }), fc.constantFrom("5", "7"));
const condition = fc.oneof(
  field,
  fc.record({ $eq: field, $ne: field }, { requiredKeys: [] }),
  fc.record({ $gt: number, $gte: number, $lt: number, $lte: number }, { requiredKeys: [] }),
  fc.record({ $in: fc.array(field), $nin: fc.array(field) }, { requiredKeys: [] }),
);
const filter = fc.option(fc.record({ n: condition, c: condition }, { requiredKeys: [] }), { nil: undefined });
const wild = fc.array(fc.oneof(label, fc.constant("*")), { minLength: 1, maxLength: 2 });
/** Without pages: LangGraph says nothing of the order, so a page of one store need not be that of the other. */
const all = { limit: 1_000, offset: 0 };

interface Listing {
  readonly prefix: string[] | null;
  readonly suffix: string[] | null;
  readonly maxDepth: number | undefined;
}

function listing({ prefix, suffix, maxDepth }: Listing): object {
  const conditions = [
    { matchType: "prefix", path: prefix },
    { matchType: "suffix", path: suffix },
  ];
  const matchConditions = conditions.filter(({ path }) => path !== null);
  return { matchConditions, ...(maxDepth !== undefined && { maxDepth }), ...all };
}

const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ namespace, key, value: fc.option(value, { freq: 4 }) }) as fc.Arbitrary<Operation>,
  },
  fc.record({ namespace, key }),
  fc.record({ namespacePrefix: namespace, filter }).map((each) => Object.assign(each, all)) as fc.Arbitrary<Operation>,
  fc
    .record({
      prefix: fc.option(wild),
      suffix: fc.option(wild),
      maxDepth: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
    })
    .map(listing) as fc.Arbitrary<Operation>,
);
/** A call costs as much as some thirty operations, so there are few batches. */
const program = fc.array(fc.array(operation, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 4 });

// In the slow tier, ten times as many programs.
test("every program gets the same from both stores", { timeout: 10 * 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(program, async (batches) => {
      const store = memcellStore(stage.runtime, { userId: `u${users++}` });
      const oracle = new InMemoryStore();
      for (const batch of batches) {
        const expected = await oracleAnswers(oracle, batch);
        forgetEmpty(oracle);
        expect(await answersOf(store, batch)).toEqual(expected);
      }
      const [whole, ...pages] = await pagesOf(store);
      expect(pages.flat()).toEqual(whole);
    }),
    runs(100),
  );
});

/** LangGraph goes on listing namespaces without items. */
function forgetEmpty(oracle: InMemoryStore): void {
  const { data } = oracle as unknown as { readonly data: Map<string, ReadonlyMap<string, unknown>> };
  for (const [each, items] of data) if (items.size === 0) data.delete(each);
}

/**
 * The reads first: an item that LangGraph's store has handed out is the one that it keeps, so a put of the same batch would
 * change the answer of a read before it.
 */
async function oracleAnswers(oracle: InMemoryStore, batch: Operation[]): Promise<unknown[]> {
  const found = await answersOf(
    oracle,
    batch.filter((each) => !isPut(each)),
  );
  const changed = await answersOf(oracle, batch.filter(isPut));
  return batch.map((each) => (isPut(each) ? changed : found).shift());
}

const isPut = (each: Operation): boolean => "value" in each;

/** What a batch answers, without what LangGraph leaves open: the order, and the times. */
async function answersOf(store: BaseStore, batch: Operation[]): Promise<unknown[]> {
  const results = (await store.batch(structuredClone(batch))) as unknown[];
  return batch.map((each, at) => {
    const result = results[at];
    if (isPut(each)) return "changed";
    return Array.isArray(result) ? result.map(shown).toSorted() : shown(result);
  });
}

/** As a text: of an item what it is, of a namespace its labels. */
function shown(result: unknown): string {
  if (Array.isArray(result) || result === null) return JSON.stringify(result);
  const { namespace: labels, key: name, value: content, createdAt, updatedAt } = result as Item;
  expect(updatedAt.getTime()).toBeGreaterThanOrEqual(createdAt.getTime());
  return JSON.stringify([labels, name, sortedFields(content)]);
}

const sortedFields = (content: Item["value"]): unknown =>
  Object.entries(content).toSorted(([one], [other]) => (one < other ? -1 : 1));

/** All items, and then the same in pages. */
async function pagesOf(store: BaseStore): Promise<string[][]> {
  const pages = [0, 3, 6].map((offset): Operation => ({ namespacePrefix: [], limit: 3, offset }));
  const rest: Operation = { namespacePrefix: [], limit: 1_000, offset: 9 };
  const found = (await store.batch([{ namespacePrefix: [], ...all }, ...pages, rest])) as unknown[];
  return found.map((items) => (items as Item[]).map(shown));
}
