/** A test of the model: with each of these bugs, the script that tells it must fail. */
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { oneIn } from "../../stage/seed.ts";
import { closeRuntimes } from "../homes/gate.ts";
import { host, hostFolder, loadHost } from "../store-under-test.ts";
import { explore } from "./explore.ts";
import { scripts } from "./scripts.ts";
import { seededBugs, seedHost } from "./seeded-bugs.ts";

afterAll(closeRuntimes);

test.for(oneIn(6, seededBugs))("the model finds the bug: $name", { timeout: 600_000 }, async (bug) => {
  const script = scripts.find(({ name }) => name === bug.script);
  if (script === undefined) throw new Error(`There is no script "${bug.script}"`);
  // A kill after each effect: with some of them only, chance decides whether a bug of what a kill leaves is found.
  const exploration = { ...script, script: script.steps, seed: 1, density: 1, kills: 1, problemsMax: 1 };
  const { problems, states } = await explore(await loadHost(seedHost(join(hostFolder, ".."), bug)), exploration);
  console.log(`${bug.name}: found after ${states} states`);
  expect(problems).toHaveLength(1);
  // Without the bug, the same states are right.
  expect((await explore(host, { ...exploration, statesMax: states })).problems).toEqual([]);
});
