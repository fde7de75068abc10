/** Finds problems in the scope's files, for the host's doctor, exports and imports. Repairs nothing. */
import { answerInspection, answerPaths } from "../../../plugin/kit/inspection.ts";
import type { Answer } from "../../../plugin/kit/serve-tool.ts";
import type { InspectFinding, InspectInput, InspectOutput, RefusedPath } from "../../../shared/roles.ts";
import { isUnreadable, listPaths, nameAt } from "./text-file.ts";

/** A call can make 10,000 requests to the host. */
const readMax = 9_000;

const isNone = "it is none of <name>.txt with a name that a text can have";
const isNoText = "it is not UTF-8 text";

/** Answers the host's three questions; see the role `inspect` in `shared/roles.ts`. */
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
