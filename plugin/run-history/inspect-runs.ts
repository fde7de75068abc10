/**
 * Reports damaged lines and files that no tool reads, and facts about a run that its events contradict. It mends the
 * facts; a damaged line stays for a person, who may still make something of it.
 */
import type { ListedFile } from "../../shared/abi.ts";
import type { InspectFinding, InspectInput, InspectOutput, RefusedPath } from "../../shared/roles.ts";
import { answerInspection, answerPaths } from "../kit/inspection.ts";
import type { Answer } from "../kit/serve-tool.ts";
import { finding, inspectRun, mendRun } from "./inspect-run.ts";
import { runFileAt, runs } from "./run-files.ts";
import { runLimits } from "./run-limits.ts";

const { filesMax, runsMendedMax } = runLimits;

export function inspectRuns({ mend, paths, incoming }: InspectInput): Answer<InspectOutput> {
  if (paths) return answerPaths(paths.filter((path) => runFileAt(path) === null).map(unfit), paths.filter(isDerived));
  const all = runs.list();
  const files = all.filter(({ path }) => runFileAt(path) !== null);
  const unused = all.filter(({ path }) => runFileAt(path) === null);
  const states = Array.from(byFolder(files), ([folder, own]) => inspectRun(folder, own));
  const found = [
    ...files.slice(filesMax, filesMax + 1).map(({ path }) => crowded(path, files.length)),
    ...unused.map(({ path }) => finding("file-unused", path, isUnused)),
    ...states.flatMap(({ findings }) => findings),
  ];
  const judged = incoming?.filter((path) => !isDerived(path));
  const answer = answerInspection({ mend, incoming: judged }, { found, codes, together: [] });
  const wrong = states.filter((state) => state.wrong.length > 0);
  if (mend) for (const state of wrong.slice(0, runsMendedMax)) mendRun(state);
  return answer;
}

/** The files of each run, as far as they can all be read. Only whole runs: a part of one says nothing about its facts. */
function byFolder(files: readonly ListedFile[]): Map<string, ListedFile[]> {
  const found = new Map<string, ListedFile[]>();
  for (const file of files) {
    const { folder = "" } = runFileAt(file.path) ?? {};
    const own = found.get(folder) ?? [];
    own.push(file);
    found.set(folder, own);
  }
  let count = 0;
  return new Map(Array.from(found).filter(([, own]) => (count += own.length) <= filesMax));
}

/** A damaged line does not refuse a file: an import takes it along. */
const codes = { "file-unreadable": "ENTRY_UNREADABLE" } as const;

/** A head tells the ids of a run whose folder name is shortened, so it is not derived in every case. */
const isDerived = (path: string): boolean => ["head", "closed"].includes(runFileAt(path)?.kind ?? "");

const isUnused = "it is not a file of a run, and no tool reads it";

const unfit = (path: string): RefusedPath => ({ path, code: "INPUT_INVALID", reason: isUnused });

const crowded = (path: string, count: number): InspectFinding =>
  finding("too-many-files", path, `it is one of ${count} files, at most ${filesMax} are inspected`);
