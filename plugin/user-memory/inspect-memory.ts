/**
 * Reports what is wrong with a user's files and, with `mend`, mends it. For imports and exports, it also reports which
 * paths this family keeps files under, without reading them, and which incoming files cannot be used as they are. Such
 * files are never changed: mending fails, and nothing is written.
 */
import type { ListedFile } from "../../shared/abi.ts";
import type { InspectInput, InspectOutput, RefusedPath } from "../../shared/roles.ts";
import { answerInspection, answerPaths } from "../kit/inspection.ts";
import type { Answer } from "../kit/serve-tool.ts";
import { entryLimits } from "./entry-limits.ts";
import { indexPath } from "./entry-name.ts";
import { findingsOf, readMemory } from "./memory-findings.ts";
import type { MemoryFinding, MemoryProblem } from "./memory-findings.ts";
import { entryFilesAmong, memory } from "./memory-scope.ts";
import { mendMemory } from "./mend-memory.ts";
import type { EntryFile } from "./newest-entries.ts";
import { unfitAmong } from "./notes.deferred.ts";

export function inspectMemory({ mend, paths, incoming }: InspectInput): Answer<InspectOutput> {
  if (paths) return answerPaths(unfitAmong(paths), paths.filter(isIndex));
  const listed = memory.list();
  const files = entryFilesAmong(listed);
  const isTooMany = incoming !== undefined && files.length > entryLimits.entriesMax;
  const comesIn = incoming && new Set(incoming);
  const state = readMemory(isTooMany ? [] : files, comesIn);
  // An import completes no front matter and no line, and looks into no other file: what people wrote stays as it is.
  const isAskedFor = ({ problem, path }: MemoryFinding): boolean =>
    comesIn === undefined || (!completed.has(problem) && (comesIn.has(path) || !ofText.has(problem)));
  const found = isTooMany ? [] : [...findingsOf(state).filter(isAskedFor), ...unusedAmong(listed, files)];
  const together = isTooMany ? [tooMany(files.length)] : [];
  // The index is built again from the incoming entries.
  const entries = incoming?.filter((path) => path !== indexPath);
  const answer = answerInspection({ mend, incoming: entries }, { found, codes, together });
  if (mend) {
    mendMemory(
      state,
      found.filter(({ remedy }) => remedy !== null),
      // An import that brings an index has its lines already.
      entries?.length === incoming?.length ? new Set(entries) : undefined,
    );
  }
  return answer;
}

/** The family builds the index from the entries. */
const isIndex = (path: string): boolean => path === indexPath;

/** The files that no tool reads, because of their names. */
function unusedAmong(listed: readonly ListedFile[], files: readonly EntryFile[]): MemoryFinding[] {
  const named = new Set(files.map(({ path }) => path));
  const others = listed.map(({ path }) => path).filter((path) => path !== indexPath && !named.has(path));
  const unfit = unfitAmong(others);
  const known = new Set(unfit.map(({ path }) => path));
  const reason = "other entries have both of the names that it could have; rename it";
  const unused = [...unfit, ...others.filter((path) => !known.has(path)).map((path) => ({ path, reason }))];
  return unused.map((each) => ({ problem: "file-unused", path: each.path, message: each.reason, remedy: null }));
}

const completed: ReadonlySet<MemoryProblem> = new Set(["entry-incomplete", "line-differs"]);
const ofText: ReadonlySet<MemoryProblem> = new Set(["entry-unreadable", "entry-too-large", "hidden-character"]);

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
