/**
 * Says what is wrong with a user's files, and mends it when told to. For a host that imports, it also says which paths
 * this family keeps files under, and which of the files that have just come in cannot be used as they are: those are
 * refused and never altered, and nothing at all is mended beside them.
 */
import type { Answer } from "../serve-tool.ts";
import { entryLimits } from "./entry-limits.ts";
import { indexPath } from "./entry-name.ts";
import { derivedAmong, unfitAmong } from "./fit-paths.ts";
import { findingsOf, readMemory } from "./memory-findings.ts";
import { listEntryNames } from "./memory-scope.ts";
import { mendMemory } from "./mend-memory.ts";
import type { InspectMemoryInput, InspectMemoryOutput, MemoryFinding, RefusedPath } from "./schemas/inspect.ts";

export function inspectMemory({ mend, paths, incoming }: InspectMemoryInput): Answer<InspectMemoryOutput> {
  const ofPaths = paths && { unfit: unfitAmong(paths), derived: derivedAmong(paths) };
  const names = listEntryNames();
  if (incoming && names.length > entryLimits.entriesMax) {
    return answerOf({ findings: [], refused: [tooMany(names.length)], ...ofPaths });
  }
  const state = readMemory(names);
  const found = findingsOf(state);
  const told: Told = incoming === undefined ? { findings: found } : toldApart(found, new Set(incoming));
  if (!mend || told.refused?.length) return answerOf({ ...told, ...ofPaths });
  mendMemory(state, found.filter(isMendable));
  return answerOf({ ...told, findings: told.findings.filter(isMendable), ...ofPaths });
}

const isMendable = ({ remedy }: MemoryFinding): boolean => remedy !== null;

type Told = Omit<InspectMemoryOutput, "findingsHidden">;

/** More would not fit into an answer. */
const findingsMax = 1_000;

function answerOf({ findings, refused, ...others }: Told): Answer<InspectMemoryOutput> {
  const refusedShown = refused?.slice(0, findingsMax);
  const shown = findings.slice(0, findingsMax - (refusedShown?.length ?? 0));
  const data = {
    findings: shown,
    findingsHidden: findings.length - shown.length,
    ...others,
    ...(refusedShown && { refused: refusedShown }),
  };
  return { message: `${findings.length} findings`, data };
}

/** That an entry which comes in has no line yet is settled by mending: it is nothing that was wrong. */
function toldApart(found: readonly MemoryFinding[], incoming: ReadonlySet<string>): Told {
  const isOfIncoming = ({ path }: MemoryFinding): boolean => path !== indexPath && incoming.has(path);
  const refused = found
    .filter((finding) => isOfIncoming(finding) && finding.problem !== "entry-without-line")
    .map(({ problem, path, message }) => ({ path, code: codes[problem] ?? "INPUT_INVALID", reason: message }));
  return { findings: found.filter((finding) => !isOfIncoming(finding)), refused };
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
