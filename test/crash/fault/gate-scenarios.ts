/** Operations of a runtime during which the disk fails. */
import { gate } from "../model/gate-operation.ts";
import type { GateOperation } from "../model/gate-operation.ts";

export interface GateScenario {
  readonly name: string;
  readonly before: readonly GateOperation[];
  readonly operation: GateOperation;
}

const mine = gate("write", "mine", "My words.");
const guess = gate("infer", "guess", "A guess.");
const waiting = gate("wait", "mine", "Of a page.");

export const gateScenarios: readonly GateScenario[] = [
  { name: "the first write of a user waits", before: [], operation: waiting },
  { name: "a write waits", before: [mine, guess], operation: waiting },
  { name: "a write is approved", before: [mine, guess, waiting], operation: gate("approve") },
  { name: "a write is rejected", before: [mine, guess, waiting], operation: gate("reject") },
  { name: "a run reads and is trusted less", before: [mine, guess, waiting], operation: gate("read", "guess") },
  {
    name: "a run's changes are undone",
    before: [mine, waiting, guess, gate("infer", "mine", "Not mine.")],
    operation: gate("undo"),
  },
];
