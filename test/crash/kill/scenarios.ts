/** What processes are killed at, and where the disk fails. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { walLimits } from "../../../host/store/files/commit/wal-limits.ts";
import { userFolder } from "../../support/user-files.ts";
import { userId } from "../memory-steps.ts";
import type { Step } from "../memory-steps.ts";
import { eraseScenarios } from "./erase-scenarios.ts";
import { firstBoot, killedIn, nextBoot, takeSteps } from "./scenario.ts";
import type { Scenario } from "./scenario.ts";
import { storeScenarios } from "./store-scenarios.ts";

const upsert = (name: string, text: string): Step => ({ kind: "upsert", name, text });
const look: Step = { kind: "look" };

const twoFacts = [upsert("a", "first"), upsert("b", "second")];

/** The index repeats it in each record: two copies in the first record and one in each of five more fill the WAL. */
const longFact = upsert("c", "x".repeat(walLimits.retireBytes / 7));
const shortFacts = Array.from({ length: 4 }, (_, count) => upsert("b", `${count}`));

const userScenarios: readonly Scenario[] = [
  { name: "first upsert of a new user", prepare: takeSteps([]), boot: firstBoot, warm: [], step: upsert("a", "new") },
  { name: "upsert", prepare: takeSteps(twoFacts), boot: firstBoot, warm: [], step: upsert("c", "new") },
  {
    name: "replace, by a process that knows the WAL",
    prepare: takeSteps(twoFacts),
    boot: firstBoot,
    warm: [upsert("a", "changed")],
    step: upsert("a", "changed again"),
  },
  { name: "delete", prepare: takeSteps(twoFacts), boot: firstBoot, warm: [], step: { kind: "delete", name: "a" } },
  {
    name: "restore",
    prepare: takeSteps([...twoFacts, { kind: "delete", name: "a" }]),
    boot: firstBoot,
    warm: [],
    step: { kind: "restore", name: "a" },
  },
  {
    name: "upsert over a file that is not text",
    prepare: async (dataDir) => {
      await takeSteps([upsert("a", "\uFFFD"), upsert("b", "second"), { kind: "close" }])(dataDir);
      // Not UTF-8. Decoded as UTF-8, it is the text that its line in the index shows.
      writeFileSync(join(userFolder(dataDir, userId), "memory/a.md"), Buffer.from([0xff]));
    },
    boot: firstBoot,
    warm: [],
    step: { kind: "mend", name: "a", text: "mended" },
  },
  {
    name: "upsert that makes the WAL long enough to be retired",
    prepare: takeSteps([...twoFacts, longFact, ...shortFacts]),
    boot: firstBoot,
    warm: [],
    step: upsert("b", "last"),
    closes: true,
  },
  {
    name: "retirement",
    prepare: takeSteps(twoFacts),
    boot: firstBoot,
    warm: [{ kind: "delete", name: "a" }, upsert("c", "third")],
    step: { kind: "close" },
    isUpkeep: true,
  },
  {
    name: "recovery from a kill",
    // Leaves a change of three files of which only the first has been moved to its place.
    prepare: killedIn(twoFacts, { kind: "mend", name: "a", text: "mended" }, { name: "rename", ordinal: 2 }),
    boot: firstBoot,
    warm: [],
    step: look,
    isUpkeep: true,
  },
  { name: "recovery from a crash", prepare: crashed, boot: nextBoot, warm: [], step: look, isUpkeep: true },
];

export const scenarios: readonly Scenario[] = [...userScenarios, ...storeScenarios, ...eraseScenarios];

/** Whether a process is killed in a scenario in the fast tier. */
export const isKillSample = ({ name }: Pick<Scenario, "name">): boolean =>
  isFaultSample({ name }) || name === "recovery from a kill" || name === "erase a user";

/** Whether the disk fails in a scenario in the fast tier. */
export const isFaultSample = ({ name }: Pick<Scenario, "name">): boolean => name === "upsert";

/** Leaves a WAL's files as after a stop of the machine: empty, old or missing. A person has edited one of them. */
async function crashed(dataDir: string): Promise<void> {
  const steps: Step[] = [...twoFacts, { kind: "delete", name: "a" }, upsert("b", "changed"), upsert("c", "third")];
  await takeSteps(steps)(dataDir);
  const memory = join(userFolder(dataDir, userId), "memory");
  writeFileSync(join(memory, "a.md"), "first\n");
  rmSync(join(memory, "trash/a.20260101T000000000Z.md"));
  writeFileSync(join(memory, "b.md"), "");
  writeFileSync(join(memory, "c.md"), editedText);
}

/** The text that a person wrote over a fact between a crash and the recovery. */
export const editedText = "a person's own words\n";
