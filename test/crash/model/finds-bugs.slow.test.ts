/** A test of the model: each of these bugs must make it fail. `seeded-bugs/main.ts` runs all bugs and all suites. */
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { closeRuntimes } from "../homes/gate.ts";
import { seededBugs } from "../seeded-bugs/bugs.ts";
import { seedHost } from "../seeded-bugs/seed-host.ts";
import { hostFolder, loadHost } from "../store-under-test.ts";
import { explore } from "./explore.ts";
import { scripts } from "./scripts.ts";

/** Each bug with the script that finds it first. */
const telling = {
  "a record is not flushed": "first call",
  "retired without flushing folders": "retire",
  "the first call does not flush the folders above": "first call",
  "a person's change is undone after a restart": "changes by hand, then a restart",
  "what a person has removed comes back after a restart": "changes by hand, then a restart",
  "a name that a crash has lost counts as removed by a person": "edits between calls",
  "recovery applies records that may not be durable": "two processes",
  "a record of the host is not flushed": "the first write of a user waits",
  "a write stops waiting before it is applied": "waits, is approved and rejected",
  "a failed flush is acknowledged": "the WAL's flush fails",
};

afterAll(closeRuntimes);

test.for(Object.entries(telling))("the model finds the bug: %s", async ([bugName, name]) => {
  const bug = seededBugs.find((each) => each.name === bugName);
  const script = scripts.find((each) => each.name === name);
  if (!bug || !script) throw new Error(`There is no bug "${bugName}", or no script "${name}"`);
  const host = await loadHost(seedHost(join(hostFolder, ".."), "seeded-in-test", bug));
  const { subject, steps } = script;
  const findings = await explore(host, { name, script: steps, subject, seed: 1, density: 2, problemsMax: 1 });
  expect(findings.problems).not.toEqual([]);
});
