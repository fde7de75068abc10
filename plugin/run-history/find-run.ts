/** Finds a run by its ids. */
import { quoted } from "../../shared/text.ts";
import { ToolError } from "../kit/tool-error.ts";
import type { ClosedSegment } from "./closed-segments.ts";
import {
  filesIn,
  headName,
  linesOf,
  readLines,
  readOrEmpty,
  readSegment,
  runFileAt,
  segmentPath,
  spanOf,
  appendIdsPath,
  unreadable,
} from "./run-files.ts";
import { emptySpan, joinSpans, parseHead } from "./run-head.ts";
import type { RunHead } from "./run-head.ts";
import { folderOf } from "./run-ids.ts";
import type { RunIds } from "./run-ids.ts";

export interface Run {
  /** Inside the scope. */
  readonly folder: string;
  readonly head: RunHead;
}

/** Returns `null` if there is no such run. A run whose head is missing or damaged is read in full. */
export function findRun(ids: RunIds): Run | null {
  const folder = folderOf(ids);
  const head = parseHead(readOrEmpty(`${folder}/${headName}`));
  if (head === null) return rebuildRun(ids, folder);
  checkSame(head, ids);
  return { folder, head };
}

/** Ids that differ only in case lead here on a disk that ignores it; so does a file that a person has moved. */
function checkSame(head: RunHead, ids: RunIds): void {
  if (isSame(head.agentId, ids.agentId) && isSame(head.runId, ids.runId)) return;
  throw new ToolError(
    "NAME_CONFLICT",
    `Cannot use the run ${quoted(ids.runId)} of ${quoted(ids.agentId)}: its folder belongs to ` +
      `${quoted(head.runId)} of ${quoted(head.agentId)}`,
  );
}

/** The forms of Unicode of an id are one. */
const isSame = (one: string, other: string): boolean =>
  one === other || one.normalize("NFC") === other.normalize("NFC");

/** Makes the head from the run's other files; `null` if there are none. */
export function rebuildRun(ids: RunIds, folder: string): Run | null {
  const files = filesIn(folder).map(({ path }) => runFileAt(path));
  const numbersOf = (kind: string): number[] =>
    files.flatMap((file) => (file?.folder === folder && file.kind === kind ? [file.number] : []));
  const segments = numbersOf("segment");
  const last = Math.max(0, ...segments);
  if (last === 0) return null;
  const appendFiles = numbersOf("appends");
  const lastSegment = readSegment(segmentPath(folder, last));
  // A file that is no text stays as it is: the next append begins a new one.
  const isOpen = lastSegment.text !== unreadable;
  const closedSegments = isOpen ? last - 1 : last;
  const closed = rebuildClosed(folder, closedSegments, new Set(segments));
  const open = isOpen ? spanOf(lastSegment) : emptySpan;
  const all = closed.reduce(joinSpans, emptySpan);
  const head: RunHead = {
    ...ids,
    createdAt: joinSpans(all, open).firstAt,
    closedSegments,
    closed: joinSpans(emptySpan, all),
    open,
    lastAppend: { segment: closedSegments + 1, line: open.lines },
    appendIds: appendFiles.reduce(
      (sum, each) => sum + linesOf(readLines(appendIdsPath(folder, each)).readable ?? "").length,
      0,
    ),
    appendIdFiles: Math.max(0, ...appendFiles),
  };
  return { folder, head };
}

/** What `closed.jsonl` should say of segments 1 to `last`. Absent ones are empty. */
function rebuildClosed(folder: string, last: number, present: ReadonlySet<number>): ClosedSegment[] {
  return Array.from({ length: last }, (_, at) => ({
    segment: at + 1,
    ...(present.has(at + 1) ? spanOf(readSegment(segmentPath(folder, at + 1))) : emptySpan),
  }));
}
