/**
 * Reports what is wrong with a user's files and, with `mend`, mends it. For imports and exports, it also reports which
 * paths this family keeps files under, without reading them, and which incoming files cannot be used as they are. Such
 * files are never changed: mending fails, and nothing is written.
 */
import type { InspectInput, InspectOutput, RefusedPath } from "../../shared/roles.ts";
import { answerInspection, answerPaths } from "../kit/inspection.ts";
import type { Answer } from "../kit/serve-tool.ts";
import { entryLimits } from "./entry-limits.ts";
import { entryNameAt, indexPath } from "./entry-name.ts";
import { derivedAmong, unfitAmong } from "./fit-paths.ts";
import { findingsOf, readMemory } from "./memory-findings.ts";
import type { MemoryFinding, MemoryProblem } from "./memory-findings.ts";
import { listEntryFiles, memory } from "./memory-scope.ts";
import { mendMemory } from "./mend-memory.ts";

export function inspectMemory({ mend, paths, incoming }: InspectInput): Answer<InspectOutput> {
  if (paths) return answerPaths(unfitAmong(paths), derivedAmong(paths));
  const sizes = new Map(listEntryFiles().map(({ name, bytes }) => [name, bytes]));
  const isTooMany = incoming !== undefined && sizes.size > entryLimits.entriesMax;
  const state = readMemory(isTooMany ? new Map() : sizes);
  // An import completes no front matter and no line: files that people wrote stay as they are.
  const isAskedFor = ({ problem }: MemoryFinding): boolean =>
    incoming === undefined || (problem !== "entry-incomplete" && problem !== "line-differs");
  const found = isTooMany ? [] : [...findingsOf(state).filter(isAskedFor), ...unusedFiles()];
  const together = isTooMany ? [tooMany(sizes.size)] : [];
  // The index is built again from the incoming entries.
  const entries = incoming?.filter((path) => path !== indexPath);
  const answer = answerInspection({ mend, incoming: entries }, { found, codes, together });
  if (mend) {
    mendMemory(
      state,
      found.filter(({ remedy }) => remedy !== null),
      // An import that brings an index has its lines already.
      entries?.length === incoming?.length ? namesAt(entries) : undefined,
    );
  }
  return answer;
}

const namesAt = (paths: readonly string[] = []): ReadonlySet<string> =>
  new Set(paths.flatMap((path) => entryNameAt(path) ?? []));

/** The files that no tool reads, because of their names. */
function unusedFiles(): MemoryFinding[] {
  const paths = memory.list().map(({ path }) => path);
  return unfitAmong(paths).map(({ path, reason }) => ({ problem: "file-unused", path, message: reason, remedy: null }));
}

/** An incoming entry without a line in the index is not refused: mending adds the line. */
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
