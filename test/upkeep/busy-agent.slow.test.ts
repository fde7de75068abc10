/** An undo of 300 files beside one writer and beside four ends within the time that an operation may wait. */
import { expect, test } from "vitest";

import { busyStage } from "./busy-stage.ts";
import { alice } from "./upkeep-stage.ts";

test.for([
  ["files", 1],
  ["files", 4],
  ["PostgreSQL", 1],
  ["PostgreSQL", 4],
] as const)("on %s, beside %i writer(s)", { timeout: 300_000 }, async ([engine, writers]) => {
  await using stage = await busyStage(engine);
  await stage.poison("memory", 300);
  await using busy = await stage.write(writers, { scope: "memory", run: "good" });
  const beganMs = performance.now();
  const plan = await stage.upkeep.undo(alice, { run: "bad" });
  const tookMs = performance.now() - beganMs;
  expect(await busy.end()).toEqual([]);
  expect(plan).toMatchObject({ left: [], builtOn: [] });
  expect(plan.trashed).toHaveLength(300);
  console.log(`${engine}, ${writers} writer(s): ${Math.round(tookMs)} ms`);
  // `waitMs`, by default.
  expect(tookMs).toBeLessThan(30_000);
});
