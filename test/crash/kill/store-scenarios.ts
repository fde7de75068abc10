/** Changes of several stores, and their recovery. */
import type { Step } from "../memory-steps.ts";
import type { StoreOperation } from "../model/store-operation.ts";
import { firstBoot, killedIn, nextBoot, takeSteps } from "./scenario.ts";
import type { Scenario } from "./scenario.ts";

const change = (operation: StoreOperation): Step => ({ kind: "change stores", operation });
const put = (stores: string, name: string, body: string): Step => change({ do: "put", in: stores, name, body });

const twoStores = [put("ab", "one", "first"), put("b", "two", "second")];
const twoAgain = put("ab", "one", "changed");
const look: Step = { kind: "look at stores", in: "abc" };
const lookAtPart: Step = { kind: "look at stores", in: "b" };
const readPart: Step = { kind: "read stores", in: "b" };

/** The first flush is that of the part: nothing is committed. */
const uncommitted = { name: "fdatasync", ordinal: 1 };
/** The second is that of the leader, whose record is there but not flushed. */
const unflushed = { name: "fdatasync", ordinal: 2 };
/** The leader has applied its two files, and the other store one of two. */
const halfApplied = { name: "renameat2", ordinal: 4 };

export const storeScenarios: readonly Scenario[] = (
  [
    { name: "first change of two stores", prepare: takeSteps([]), step: put("ab", "one", "new") },
    { name: "change of two stores", prepare: takeSteps(twoStores), step: twoAgain },
    {
      name: "change of three stores, of which one is new, with grants",
      prepare: takeSteps(twoStores),
      step: change({ do: "grant", of: "a", in: "bc", text: "granted" }),
    },
    {
      name: "move between stores, by a process that knows the WALs",
      prepare: takeSteps(twoStores),
      warm: [twoAgain],
      step: change({ do: "move", from: "b", to: "a", name: "two", keeps: true }),
    },
    { name: "recovery of an uncommitted change", prepare: killedIn(twoStores, twoAgain, uncommitted), step: look },
    { name: "recovery of a committed change", prepare: killedIn(twoStores, twoAgain, unflushed), step: readPart },
    {
      name: "recovery of a half applied change",
      prepare: killedIn(twoStores, twoAgain, halfApplied),
      step: lookAtPart,
    },
    {
      name: "recovery of a half applied change after a crash",
      prepare: killedIn(twoStores, twoAgain, halfApplied),
      boot: nextBoot,
      step: look,
    },
    {
      name: "recovery of an uncommitted change after a crash",
      prepare: killedIn(twoStores, twoAgain, uncommitted),
      boot: nextBoot,
      step: lookAtPart,
    },
  ] satisfies (Partial<Scenario> & Pick<Scenario, "name" | "prepare" | "step">)[]
).map((scenario) => {
  const isUpkeep = scenario.step.kind !== "change stores";
  return Object.assign({ area: "stores", boot: firstBoot, warm: [], isUpkeep } as const, scenario);
});
