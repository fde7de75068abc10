/**
 * Two processes with the real runtime work for the same users, and one after the other is killed at a random instant. The
 * other one goes on, a new one takes the place of the killed; every few kills both die and everything is looked at: what
 * was acknowledged is there, at most the one call that was under way besides, facts and index agree, nothing is left over.
 */
import { expect, test } from "vitest";

import { seededRandom } from "../../support/seeded-random.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { LoadedPair } from "./loaded-pair.ts";

const isLong = process.env["TEST_LONG"] === "1";
/** Each of two pairs, which work beside each other in folders of their own. */
const killsOfPair = isLong ? 500 : 100;

test.concurrent.for([1, 2])("killed under load, seed %i", { timeout: killsOfPair * 10_000 }, async (seed) => {
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
