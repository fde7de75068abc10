/**
 * A disk that may lose, tear and reorder all that POSIX lets it, and a store that must keep its promises on it. On a
 * failure: `TEST_MODEL="<script>" TEST_SEED=<seed>` and this file run that one again.
 */
import { env } from "node:process";

import { afterAll, expect, test } from "vitest";

import { DiskRoot, FileStore } from "../host-under-test.ts";
import { explore } from "./explore.ts";
import { randomScript } from "./random-script.ts";
import { scripts } from "./scripts.ts";

const isLong = env["TEST_LONG"] === "1";
const isShort = env["TEST_SEEDED"] === "1";
const fixedSeed = env["TEST_SEED"];
const only = env["TEST_MODEL"];

const statesMin = 5_000;
const randomScripts = isLong ? 40 : isShort ? 4 : 8;
const factor = isLong ? 5 : 0.5;
const seed = fixedSeed === undefined ? 20_260_101 : Number(fixedSeed);

let states = 0;
const wanted = [...scripts, ...Array.from({ length: randomScripts }, (_, at) => randomScript(seed + at))].filter(
  ({ name }) => only === undefined || name === only,
);

test.for(wanted)("after any crash, $name is whole", { timeout: 900_000 }, async ({ name, steps, density = 1 }) => {
  const findings = await explore({ FileStore, DiskRoot }, { name, script: steps, seed, density: density * factor });
  states += findings.states;
  expect(findings.problems, `TEST_MODEL="${name}" TEST_SEED=${seed} shows it again`).toEqual([]);
});

afterAll(() => {
  console.log(`${states} states of a disk after a crash were recovered from`);
  if (only === undefined && !isShort) expect(states).toBeGreaterThan(statesMin);
});
