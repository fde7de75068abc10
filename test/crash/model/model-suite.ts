/**
 * A disk that loses, tears and reorders everything that POSIX allows, and a store that must keep its promises on it. By
 * default few states after each effect; `TEST_LONG=1` tries more than ten times as many, of all scripts.
 */
import { env } from "node:process";

import { afterAll, expect, test } from "vitest";

import { isLong, seed } from "../../stage/seed.ts";
import { closeRuntimes, gateSubject } from "../homes/gate.ts";
import { host } from "../store-under-test.ts";
import { explore } from "./explore.ts";
import { randomScripts, scripts } from "./scripts.ts";
import type { Script } from "./scripts.ts";

const only = env["TEST_MODEL"];
const randomCount = isLong ? 40 : 6;
const factor = isLong ? 5 : 0.125;
/** A kill loses no effect, so that states after kills differ less than those after power cuts. */
const kills = isLong ? 0.7 : 0.25;

const all: readonly Script[] = [
  ...scripts,
  ...Array.from({ length: randomCount }, (_, at) => randomScripts(seed * randomCount + at)).flat(),
];

const hasRuntime = ({ subject }: Script): boolean => subject === gateSubject;

/** Scripts with the seeds that have found a bug which the others seldom find. */
const foundBefore = [
  ["two processes change several stores", 1965, 0.125],
  ["removals by hand among calls, then a restart", 6, 1],
] as const;

export function testFoundBefore(): void {
  test.for(foundBefore)("what was found once is not there any more: %s, seed %d", async ([name, found, density]) => {
    const script = scripts.find((each) => each.name === name);
    if (script === undefined) throw new Error("there is no such script");
    const { steps, subject } = script;
    const asFound = { name, subject, script: steps, seed: found, density, kills: 0.25, statesMax: 500 };
    expect((await explore(host, asFound)).problems).toEqual([]);
  });
}

/** Declares a test for each script of a part, or of the one that `TEST_MODEL` names. */
export function testScripts(choose: (scripts: readonly Script[]) => readonly Script[]): void {
  const wanted = only === undefined ? choose(all) : all.filter(({ name }) => name === only);
  let states = 0;
  const tryScript = async ({ name, steps, subject, density = 1 }: Script): Promise<void> => {
    const findings = await explore(host, { name, subject, script: steps, seed, density: density * factor, kills });
    states += findings.states;
    expect(findings.problems, `TEST_MODEL="${name}" TEST_SEED=${seed} shows it again`).toEqual([]);
    expect(findings.states).toBeGreaterThan(5);
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
  });
}
