/**
 * Disk failures while a write begins to wait, is approved and is rejected, while a run loses trust by what it reads, and
 * while changes are undone. By default every fifth of the failures; `TEST_LONG=1` takes all.
 */
import { testFaults } from "./fault-suite.ts";
import { gateScenarios } from "./gate-scenarios.ts";

testFaults(gateScenarios, { script: "fault/gate-fault-workload.js", every: 5 });
