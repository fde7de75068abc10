/** What is wrong with the files in the scope, for the host's doctor, its exports and its imports. Nothing is mended. */
import { importRefused } from "../../../plugin/import-refused.ts";
import type { InspectFinding, InspectInput, InspectOutput, RefusedPath } from "../../../shared/roles.ts";
import { isUnreadable, listPaths, nameAt } from "./text-file.ts";

/** More would not fit into an answer. A call may ask the host 10,000 times. */
const findingsMax = 1_000;
const readMax = 9_000;

const isNone = "it is none of <name>.txt with a name that a text can have";
const isNoText = "it is not UTF-8 text";

/** The three questions of a host: see the role `inspect` in `shared/roles.ts`. */
export function inspectTexts({ mend, paths, incoming }: InspectInput): InspectOutput {
  if (paths) {
    const unfit = paths.filter((path) => nameAt(path) === null).map((path) => refusal(path, "INPUT_INVALID", isNone));
    return { findings: [], findingsHidden: 0, unfit };
  }
  const present = listPaths();
  const unreadable = present.slice(0, readMax).filter((path) => nameAt(path) !== null && isUnreadable(path));
  const refused = unreadable
    .filter((path) => incoming?.includes(path))
    .map((path) => refusal(path, "ENTRY_UNREADABLE", isNoText));
  // What a call has staged is committed when it succeeds: so it must not.
  if (mend && refused.length > 0) throw importRefused(refused);
  const found = [
    ...present.filter((path) => nameAt(path) === null).map((path) => finding("file-unused", path, isNone)),
    ...unreadable.filter((path) => !incoming?.includes(path)).map((path) => finding("text-unreadable", path, isNoText)),
  ];
  // With `mend`, a host is told what has been mended.
  const findings = mend ? [] : found.slice(0, findingsMax);
  return { findings, findingsHidden: mend ? 0 : found.length - findings.length, ...(incoming && { refused }) };
}

const finding = (problem: string, path: string, message: string): InspectFinding => ({
  problem,
  path,
  message,
  remedy: null,
});

const refusal = (path: string, code: RefusedPath["code"], reason: string): RefusedPath => ({ path, code, reason });
