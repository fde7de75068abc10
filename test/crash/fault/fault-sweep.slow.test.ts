/**
 * Disk failures in the scenarios that `fault-sweep.test.ts` leaves, by default every fifth of them. Of the scenarios with
 * several stores and of erasures, which take longest, by default only some. `TEST_LONG=1` takes all of both.
 */
import type { Scenario } from "../kill/scenario.ts";
import { isFaultSample, scenarios } from "../kill/scenarios.ts";
import { testFaults } from "./fault-suite.ts";

const isLong = process.env["TEST_LONG"] === "1";
const sampledAreas = new Set<Scenario["area"]>(["stores", "erased"]);
const sample = new Set([
  "change of two stores",
  "recovery of a committed change",
  "recovery of a half applied change after a crash",
  "erase a user",
  "take back an erasure",
  "finish an erasure",
]);

testFaults(
  scenarios.filter(
    (scenario) => !isFaultSample(scenario) && (isLong || !sampledAreas.has(scenario.area) || sample.has(scenario.name)),
  ),
  { every: 5 },
);
