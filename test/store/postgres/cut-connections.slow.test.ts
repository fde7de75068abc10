/**
 * A connection is cut at every message of a change in turn: before the server gets it, or before the host gets it. A
 * call that ends well has made its change, once; one that fails has changed nothing.
 */
import { expect, test } from "vitest";

import type { Side } from "../../support/postgres/cutting-proxy.ts";
import { cutChanges, CutStage } from "./cut-stage.ts";
import type { CutOutcome } from "./cut-stage.ts";
import { unfit } from "./inner-words.ts";

const sides = ["host", "server"] as const;
const kinds = Object.keys(cutChanges) as (keyof typeof cutChanges)[];

const used = kinds.flatMap((kind) => sides.map((side) => [kind, side, "used"] as const));

test.for([...used, ...sides.map((side) => ["files", side, "new"] as const)])(
  "%s, before each message of the %s, on a %s connection",
  { timeout: 120_000 },
  async ([kind, side, age]) => {
    await using stage = await CutStage.open();
    const outcomes = await cutEach(stage, kind, side, age === "new");
    expect(outcomes.flatMap(({ wrong }) => wrong ?? [])).toEqual([]);
    const failed = outcomes.filter(({ error }) => error !== null);
    expect(failed.flatMap(({ error }) => unfit(error) ?? [])).toEqual([]);
    // Whoever has told the server to commit finds out what became of it.
    const committed = outcomes.filter(({ hasCommit }) => hasCommit);
    expect(committed.filter(({ error }) => error !== null)).toEqual([]);
    expect(committed.length).toBeGreaterThan(0);
    console.log(`${kind}, ${side}, ${age}: ${outcomes.length} cuts, ${failed.length} calls refused`);
    expect(await stage.cut(cutChanges[kind], side, Infinity)).toMatchObject({ isCut: false, error: null });
  },
);

/** Cuts one message later each time, until a change is made before it is cut. */
async function cutEach(
  stage: CutStage,
  kind: keyof typeof cutChanges,
  side: Side,
  isNew: boolean,
): Promise<CutOutcome[]> {
  const outcomes: CutOutcome[] = [];
  for (let at = 1; ; at++) {
    const outcome = await stage.cut(cutChanges[kind], side, at, isNew);
    if (!outcome.isCut) return outcomes;
    outcomes.push(outcome);
  }
}
