/**
 * Reports damaged lines and files that no tool reads, and facts about a run that its events contradict. It mends the
 * facts; a damaged line stays for a person, who may still make something of it.
 */
import type { InspectFinding, InspectInput, InspectOutput, RefusedPath } from "../../shared/roles.ts";
import { answerInspection, answerPaths } from "../inspection.ts";
import type { Answer } from "../serve-tool.ts";
import { inspectRun, mendRun } from "./inspect-run.ts";
import { runFileAt, runs } from "./run-files.ts";

export function inspectRuns({ mend, paths, incoming }: InspectInput): Answer<InspectOutput> {
  if (paths) return answerPaths(paths.filter((path) => runFileAt(path) === null).map(unfit), paths.filter(isDerived));
  const files = runs.list();
  const folders = new Set(files.flatMap(({ path }) => runFileAt(path)?.folder ?? []));
  const states = Array.from(folders, (folder) => inspectRun(folder, files));
  const unused = files.filter(({ path }) => runFileAt(path) === null).map(({ path }) => findingOf(path));
  const found = [...unused, ...states.flatMap(({ findings }) => findings)];
  const judged = incoming?.filter((path) => !isDerived(path));
  const answer = answerInspection({ mend, incoming: judged }, { found, codes, together: [] });
  if (mend) for (const state of states) mendRun(state);
  return answer;
}

/** A damaged line does not refuse a file: an import takes it along. */
const codes = { "file-unreadable": "ENTRY_UNREADABLE" } as const;

/** A head tells the ids of a run whose folder name is shortened, so it is not derived in every case. */
const isDerived = (path: string): boolean => ["head", "closed"].includes(runFileAt(path)?.kind ?? "");

const isUnused = "it is not a file of a run, and no tool reads it";

const unfit = (path: string): RefusedPath => ({ path, code: "INPUT_INVALID", reason: isUnused });

const findingOf = (path: string): InspectFinding => ({ problem: "file-unused", path, message: isUnused, remedy: null });
