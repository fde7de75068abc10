/**
 * A disk that loses, tears and reorders everything that POSIX allows, and a store that must keep its promises on it. To
 * repeat a failure, run `model.slow.test.ts` with `TEST_MODEL="<script>" TEST_SEED=<seed>`.
 */
import { env } from "node:process";

import { afterAll, expect, test } from "vitest";

import { hostFolder } from "../host-under-test.ts";
import { eraseScripts } from "./erase-scripts.ts";
import { explore } from "./explore.ts";
import { gateScripts } from "./gate-scripts.ts";
import { closeRuntimes } from "./gate-subject.ts";
import { loadHost } from "./host.ts";
import { randomScript } from "./random-script.ts";
import { scripts } from "./scripts.ts";
import type { Script } from "./scripts.ts";
import { randomStoreScript, storeScripts } from "./store-scripts.ts";
import { userSubject } from "./user-subject.ts";

const host = await loadHost(hostFolder);
const isLong = env["TEST_LONG"] === "1";
const isShort = env["TEST_SEEDED"] === "1";
const fixedSeed = env["TEST_SEED"];
const only = env["TEST_MODEL"];

const randomScripts = isLong ? 40 : isShort ? 4 : 6;
const factor = isLong ? 5 : isShort ? 0.25 : 0.125;
/** A kill loses no effect, so that states after kills differ less than those after power cuts. */
const kills = isLong || isShort ? 0.7 : 0.25;
const seed = fixedSeed === undefined ? 20_260_101 : Number(fixedSeed);

const all: Script[] = [
  ...scripts,
  ...storeScripts,
  ...eraseScripts,
  ...gateScripts,
  ...Array.from({ length: randomScripts }, (_, at) => randomScript(seed + at)),
  ...Array.from({ length: randomScripts }, (_, at) => randomStoreScript(seed + at)),
];
/** A change of each kind, a person's edit, another process, a failed flush, what waits, and random steps. */
const sample = new Set([
  "first call",
  "delete",
  "edits between calls",
  "two processes",
  "the WAL's flush fails",
  "move between stores",
  "erase",
  "the first write of a user waits",
  randomScript(seed).name,
]);

export const fastScripts = all.filter(({ name }) => sample.has(name));
/** All others, or the one script that `TEST_MODEL` names. */
export const slowScripts = all.filter(({ name }) => (only === undefined ? !sample.has(name) : name === only));

const hasRuntime = (script: Script): boolean => gateScripts.includes(script);

/** Declares a test for each script. All of them together must reach more states than `statesMin`. */
export function testScripts(wanted: readonly Script[], statesMin: number): void {
  let states = 0;
  const tryScript = async ({ name, steps, subject = userSubject, density = 1 }: Script): Promise<void> => {
    const findings = await explore(host, { name, subject, script: steps, seed, density: density * factor, kills });
    states += findings.states;
    expect(findings.problems, `TEST_MODEL="${name}" TEST_SEED=${seed} shows it again`).toEqual([]);
  };
  const title = "no crash breaks the store: $name";
  const options = { timeout: 900_000 };

  // Half of the time a store waits for threads that flush, so that several scripts run beside each other.
  test.concurrent.for(wanted.filter((script) => !hasRuntime(script)))(title, options, tryScript);
  // They share a runtime.
  test.for(wanted.filter(hasRuntime))(title, options, tryScript);

  afterAll(async () => {
    await closeRuntimes();
    console.log(`${states} states of a disk after a crash were recovered from`);
    if (only === undefined && !isShort) expect(states).toBeGreaterThan(statesMin);
  });
}
