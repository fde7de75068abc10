/** Erasing a user who has a folder and an own store, and what the next process does if that was interrupted. */
import type { Step } from "../memory-steps.ts";
import { firstBoot, killedIn, nextBoot, takeSteps } from "./scenario.ts";
import type { Scenario } from "./scenario.ts";

const note = (text: string): Step => ({ kind: "erase: note", text });
const upsert = (text: string): Step => ({ kind: "upsert", name: "a", text });
const everything = [upsert("first"), note("first\n")];
const erase: Step = { kind: "erase: all" };
const look: Step = { kind: "erase: look" };

/** The store has its mark, and nothing counts yet. */
const marked = { name: "rename", ordinal: 2 };
/** The folder is renamed: from then on the erasure counts. */
const decided = { name: "rename", ordinal: 3 };
/** Both are renamed. */
const followed = { name: "rename", ordinal: 4 };

export const eraseScenarios: readonly Scenario[] = (
  [
    { name: "erase a user", prepare: takeSteps(everything), step: erase },
    {
      name: "erase a user, by a process that knows the WALs",
      prepare: takeSteps(everything),
      warm: [upsert("second"), note("second\n")],
      step: erase,
    },
    { name: "take back an erasure", prepare: killedIn(everything, erase, marked), step: look, isUpkeep: true },
    { name: "finish an erasure", prepare: killedIn(everything, erase, decided), step: look, isUpkeep: true },
    {
      name: "finish an erasure after a crash",
      prepare: killedIn(everything, erase, followed),
      boot: nextBoot,
      step: look,
      isUpkeep: true,
    },
  ] satisfies (Partial<Scenario> & Pick<Scenario, "name" | "prepare" | "step">)[]
).map((scenario) => Object.assign({ area: "erased", boot: firstBoot, warm: [] } as const, scenario));
