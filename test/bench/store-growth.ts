/** The time of a new entry in stores with few and with many entries: among those that models see, and for programs. */
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { Runtime } from "memcell";
import { kvDelete, kvSet } from "memcell/stores";

import { body, expectOk } from "./entry.ts";
import { bounds, figureOf } from "./figures.ts";
import type { Section } from "./results.ts";
import { takeTurns } from "./take-turns.ts";
import type { BenchRun, Step } from "./take-turns.ts";

const sizes = [50, 200, 990] as const;
const keyOf = (at: number): string => `k${at}`;
/** Enough of them that no turn meets a full store. */
const deletedFirst = 5;

interface Kind {
  readonly key: string;
  readonly name: string;
  create(runtime: Runtime, userId: string, key: string): Promise<void>;
  remove(runtime: Runtime, userId: string, key: string): Promise<void>;
}

const memory = (runtime: Runtime, userId: string, input: object): Promise<void> =>
  expectOk(runtime.callAsHost("memory", input, { userId }));

const kinds: readonly Kind[] = [
  {
    key: "create",
    name: "memory create",
    create: (runtime, userId, key) =>
      memory(runtime, userId, { command: "create", path: `/memories/${key}`, content: `${key} ${body}` }),
    remove: (runtime, userId, key) => memory(runtime, userId, { command: "delete", path: `/memories/${key}` }),
  },
  {
    key: "set-internal",
    name: "SetInternal in a namespace",
    create: (runtime, userId, key) => kvSet(runtime.stores({ userId }), key, body, { namespace: "bench" }),
    async remove(runtime, userId, key) {
      await kvDelete(runtime.stores({ userId }), key, { namespace: "bench" });
    },
  },
];

export async function storeGrowth(run: BenchRun): Promise<Section["tables"]> {
  let skippedMs = 0;
  await using runtime = await createRuntime({
    dataDir: join(run.folder, "store-growth"),
    plugins: ["stores"],
    threadsMax: 1,
    clock: () => Date.now() + skippedMs,
  });
  const users = kinds.flatMap((kind) => sizes.map((size) => ({ kind, size, userId: `${kind.key}-${size}` })));
  for (const { kind, size, userId } of users) {
    for (let at = 0; at < size; at++) await kind.create(runtime, userId, keyOf(at));
  }
  const contestants = users.map(({ kind, size, userId }) => {
    // A new entry each time, in place of one that is as old as the store.
    const key = ({ round, at }: Step): string => keyOf((((round + 100) * 20 + at) * deletedFirst) % size);
    return {
      key: userId,
      async prepare(step: Step) {
        await kind.remove(runtime, userId, key(step));
        // What a program deletes is there for a second.
        skippedMs += 1_000;
      },
      run: (step: Step) => kind.create(runtime, userId, key(step)),
    };
  });
  const found = await takeTurns(run, contestants, { passes: 2, block: 10, warmUpRounds: run.isQuick ? 1 : 10 });
  return kinds.map(({ key, name }) => {
    const against = { key: "50", rounds: found(`${key}-50`) };
    const figures = sizes.map((size) => {
      const bound = size === 990 ? bounds.growthTo990 : undefined;
      return figureOf({ key: `${size}`, name: `${size} entries`, rounds: found(`${key}-${size}`), against, bound });
    });
    return { key: `growth-${key}`, title: `Growth of a store: a new entry, ${name}`, unit: "ms", figures };
  });
}
