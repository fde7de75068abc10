/**
 * How many random inputs a property gets: few in the fast tier, many in the slow one, others with each seed. A property
 * that fails prints the seed and the path to the input.
 */
import { expect } from "vitest";

import { isLong, seed } from "./seed.ts";

/**
 * Options of fast-check, for use inside a test. A `*.slow.test.ts` that declares the same property makes ten times as many
 * runs, and `TEST_LONG=1` a hundred times.
 *
 * @example
 * fc.assert(fc.property(text, holds), runs(200));
 */
export function runs(count: number): { readonly seed: number; readonly numRuns: number } {
  const isSlow = expect.getState().testPath?.endsWith(".slow.test.ts") === true;
  return { seed, numRuns: count * (isLong ? 100 : isSlow ? 10 : 1) };
}
