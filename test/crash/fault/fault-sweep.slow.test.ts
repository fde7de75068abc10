/**
 * Disk failures in the scenarios that `fault-sweep.test.ts` leaves. Of those with several stores, which take longest, by
 * default only some; `TEST_LONG=1` takes all.
 */
import { isFaultSample, scenarios } from "../kill/scenarios.ts";
import { testFaults } from "./fault-suite.ts";

const isLong = process.env["TEST_LONG"] === "1";
const ofStores = new Set([
  "change of two stores",
  "recovery of a committed change",
  "recovery of a half applied change after a crash",
]);

testFaults(
  scenarios.filter(
    (scenario) => !isFaultSample(scenario) && (isLong || scenario.area !== "stores" || ofStores.has(scenario.name)),
  ),
);
