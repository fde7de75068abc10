/**
 * Says what is wrong with a user's files, and mends it when told to. For a host that imports or exports, it also says
 * which paths this family keeps files under, whatever lies there; and which of the files that have just come in cannot be
 * used as they are. Those are never altered: mending fails for them, and nothing is written.
 */
import { importRefused } from "../import-refused.ts";
import type { Answer } from "../serve-tool.ts";
import { entryLimits } from "./entry-limits.ts";
import { indexPath } from "./entry-name.ts";
import { derivedAmong, unfitAmong } from "./fit-paths.ts";
import { findingsOf, readMemory } from "./memory-findings.ts";
import { listEntryNames } from "./memory-scope.ts";
import { mendMemory } from "./mend-memory.ts";
import type { InspectMemoryInput, InspectMemoryOutput, MemoryFinding, RefusedPath } from "./schemas/inspect.ts";

export function inspectMemory({ mend, paths, incoming }: InspectMemoryInput): Answer<InspectMemoryOutput> {
  // Without a look at any file: an export has to work whatever lies there.
  if (paths) return answerOf({ findings: [], unfit: unfitAmong(paths), derived: derivedAmong(paths) });
  const names = listEntryNames();
  const isTooMany = incoming !== undefined && names.length > entryLimits.entriesMax;
  const state = readMemory(isTooMany ? [] : names);
  const found = isTooMany ? [] : findingsOf(state);
  const told = toldApart(found, incoming);
  if (isTooMany) told.refused?.push(tooMany(names.length));
  if (!mend) return answerOf(told);
  if (told.refused?.length) throw importRefused(told.refused);
  mendMemory(state, found.filter(isMendable));
  return answerOf({ ...told, findings: told.findings.filter(isMendable) });
}

const isMendable = ({ remedy }: MemoryFinding): boolean => remedy !== null;

/** More would not fit into an answer. */
const findingsMax = 1_000;

function answerOf({ findings, ...others }: Omit<InspectMemoryOutput, "findingsHidden">): Answer<InspectMemoryOutput> {
  const shown = findings.slice(0, findingsMax - (others.refused?.length ?? 0));
  return {
    message: `${findings.length} findings`,
    data: { findings: shown, findingsHidden: findings.length - shown.length, ...others },
  };
}

interface Told {
  readonly findings: MemoryFinding[];
  readonly refused?: RefusedPath[];
}

/** That an entry which comes in has no line yet is settled by mending: it is nothing that was wrong. */
function toldApart(found: MemoryFinding[], incoming: readonly string[] | undefined): Told {
  if (incoming === undefined) return { findings: found };
  const comesIn = new Set(incoming);
  comesIn.delete(indexPath);
  const refused = found
    .filter(({ path, problem }) => comesIn.has(path) && problem !== "entry-without-line")
    .map(({ problem, path, message }) => ({ path, code: codes[problem] ?? "INPUT_INVALID", reason: message }));
  return { findings: found.filter(({ path }) => !comesIn.has(path)), refused: refused.slice(0, findingsMax) };
}

const codes: Partial<Record<MemoryFinding["problem"], RefusedPath["code"]>> = {
  "entry-unreadable": "ENTRY_UNREADABLE",
  "entry-too-large": "QUOTA_EXCEEDED",
  "names-differ-by-case": "NAME_CONFLICT",
};

const tooMany = (present: number): RefusedPath => ({
  path: "",
  code: "QUOTA_EXCEEDED",
  reason: `the user would have ${present} entries, at most ${entryLimits.entriesMax} allowed`,
});
