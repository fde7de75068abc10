/**
 * Two processes with the real runtime work for the same users. One is killed at a random instant, the other continues,
 * and a new process replaces the killed one. Every few kills both die and everything is checked: acknowledged calls
 * are there, at most one unfinished call as well, facts and index agree, and no file is left behind.
 */
import { expect, test } from "vitest";

import { seededRandom } from "../../support/seeded-random.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { LoadedPair } from "./loaded-pair.ts";

const isLong = process.env["TEST_LONG"] === "1";
/** Kills in each of the two pairs, which run concurrently in separate folders. */
const killsOfPair = isLong ? 500 : 60;

test.concurrent.for([1, 2])("kills lose nothing, seed %i", { timeout: killsOfPair * 10_000 }, async (seed) => {
  using folder = temporaryFolder();
  const pair = new LoadedPair(folder.path, seededRandom(seed));
  try {
    await pair.start();
    while (pair.kills < killsOfPair - 2) {
      await pair.killOne();
      if (pair.kills % 10 === 8) await pair.killBoth();
    }
    await pair.killForGood();
    console.log(`seed ${seed}: ${pair.kills} kills, ${pair.acknowledged} calls acknowledged`);
    expect(pair.kills).toBeGreaterThanOrEqual(killsOfPair);
  } finally {
    pair[Symbol.dispose]();
  }
});
