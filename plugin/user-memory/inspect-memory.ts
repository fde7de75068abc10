/**
 * Says what is wrong with a user's files, and mends it when told to. For a host that imports or exports, it also says
 * which paths this family keeps files under, whatever lies there; and which of the files that have just come in cannot be
 * used as they are. Those are never altered: mending fails for them, and nothing is written.
 */
import type { InspectInput, InspectOutput, RefusedPath } from "../../shared/roles.ts";
import { answerInspection, answerPaths } from "../inspection.ts";
import type { Answer } from "../serve-tool.ts";
import { entryLimits } from "./entry-limits.ts";
import { indexPath } from "./entry-name.ts";
import { derivedAmong, unfitAmong } from "./fit-paths.ts";
import { findingsOf, readMemory } from "./memory-findings.ts";
import type { MemoryProblem } from "./memory-findings.ts";
import { listEntryNames } from "./memory-scope.ts";
import { mendMemory } from "./mend-memory.ts";

export function inspectMemory({ mend, paths, incoming }: InspectInput): Answer<InspectOutput> {
  if (paths) return answerPaths(unfitAmong(paths), derivedAmong(paths));
  const names = listEntryNames();
  const isTooMany = incoming !== undefined && names.length > entryLimits.entriesMax;
  const state = readMemory(isTooMany ? [] : names);
  const found = isTooMany ? [] : findingsOf(state);
  const together = isTooMany ? [tooMany(names.length)] : [];
  // The index is made anew from what comes in.
  const entries = incoming?.filter((path) => path !== indexPath);
  const answer = answerInspection({ mend, incoming: entries }, { found, codes, together });
  if (mend) {
    mendMemory(
      state,
      found.filter(({ remedy }) => remedy !== null),
    );
  }
  return answer;
}

/** That an entry which comes in has no line yet is settled by mending: it is nothing that was wrong. */
const codes: Partial<Record<MemoryProblem, RefusedPath["code"]>> = {
  "entry-unreadable": "ENTRY_UNREADABLE",
  "entry-too-large": "QUOTA_EXCEEDED",
  "names-differ-by-case": "NAME_CONFLICT",
};

const tooMany = (present: number): RefusedPath => ({
  path: "",
  code: "QUOTA_EXCEEDED",
  reason: `the user would have ${present} entries, at most ${entryLimits.entriesMax} allowed`,
});
