/** What is wrong with the files in the scope, for the host's doctor, its exports and its imports. Nothing is mended. */
import { answerInspection, answerPaths } from "../../../plugin/inspection.ts";
import type { Answer } from "../../../plugin/serve-tool.ts";
import type { InspectFinding, InspectInput, InspectOutput, RefusedPath } from "../../../shared/roles.ts";
import { isUnreadable, listPaths, nameAt } from "./text-file.ts";

/** A call may ask the host 10,000 times. */
const readMax = 9_000;

const isNone = "it is none of <name>.txt with a name that a text can have";
const isNoText = "it is not UTF-8 text";

/** The three questions of a host: see the role `inspect` in `shared/roles.ts`. */
export function inspectTexts({ mend, paths, incoming }: InspectInput): Answer<InspectOutput> {
  if (paths) return answerPaths(paths.filter((path) => nameAt(path) === null).map(unfit));
  const present = listPaths();
  const unreadable = present.slice(0, readMax).filter((path) => nameAt(path) !== null && isUnreadable(path));
  const found = [
    ...present.filter((path) => nameAt(path) === null).map((path) => finding("file-unused", path, isNone)),
    ...unreadable.map((path) => finding("text-unreadable", path, isNoText)),
  ];
  return answerInspection(
    { mend, incoming },
    { found, codes: { "text-unreadable": "ENTRY_UNREADABLE" }, together: [] },
  );
}

const finding = (problem: string, path: string, message: string): InspectFinding => ({
  problem,
  path,
  message,
  remedy: null,
});

const unfit = (path: string): RefusedPath => ({ path, code: "INPUT_INVALID", reason: isNone });
