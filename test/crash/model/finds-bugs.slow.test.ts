/** A test of the model: each of these bugs must make it fail. `seeded-bugs/main.ts` runs all bugs and all suites. */
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { hostFolder } from "../host-under-test.ts";
import { seededBugs } from "../seeded-bugs/bugs.ts";
import { seedHost } from "../seeded-bugs/seed-host.ts";
import { explore } from "./explore.ts";
import { gateScripts } from "./gate-scripts.ts";
import { closeRuntimes } from "./gate-subject.ts";
import { loadHost } from "./host.ts";
import { scripts } from "./scripts.ts";
import { storeScripts } from "./store-scripts.ts";
import { userSubject } from "./user-subject.ts";

/** Each bug with the script that finds it first. */
const telling = [
  { bug: "a record is not flushed", script: "first call" },
  { bug: "retired without flushing folders", script: "retire" },
  { bug: "the first call does not flush the folders above", script: "first call" },
  { bug: "a person's change is undone after a restart", script: "changes by hand, then a restart" },
  { bug: "what a person has removed comes back after a restart", script: "changes by hand, then a restart" },
  { bug: "a name that a crash has lost counts as removed by a person", script: "edits between calls" },
  { bug: "recovery applies records that may not be durable", script: "two processes" },
  { bug: "a record of the host is not flushed", script: "the first write of a user waits" },
  { bug: "a write stops waiting before it is applied", script: "waits, is approved and rejected" },
  { bug: "a failed flush is acknowledged", script: "the WAL's flush fails" },
];

afterAll(closeRuntimes);

test.for(telling)("the model finds the bug: $bug", async ({ bug: name, script: scriptName }) => {
  const bug = seededBugs.find((each) => each.name === name);
  const script = [...scripts, ...storeScripts, ...gateScripts].find((each) => each.name === scriptName);
  if (!bug || !script) throw new Error(`There is no bug "${name}", or no script "${scriptName}"`);
  const host = await loadHost(seedHost(join(hostFolder, ".."), "seeded-in-test", bug));
  const findings = await explore(host, {
    name: scriptName,
    script: script.steps,
    subject: script.subject ?? userSubject,
    seed: 1,
    density: 2,
    problemsMax: 1,
  });
  expect(findings.problems).not.toEqual([]);
});
