/** Compares a run's facts, `run.json` and `closed.jsonl`, with its events. */
import type { ListedFile } from "../../shared/abi.ts";
import type { InspectFinding } from "../../shared/roles.ts";
import { utf8Bytes } from "../../shared/text.ts";
import { formatClosed } from "./closed-segments.ts";
import type { ClosedSegment } from "./closed-segments.ts";
import { parseLines } from "./event-line.ts";
import {
  appendIdsPath,
  closedName,
  headName,
  linesOf,
  readIfPossible,
  readOrEmpty,
  runFileAt,
  runs,
  segmentPath,
} from "./run-files.ts";
import { emptySpan, formatHead, joinSpans, parseHead } from "./run-head.ts";
import type { RunHead, Span } from "./run-head.ts";
import { runLimits } from "./run-limits.ts";
import { idOf } from "./run-path.ts";

export interface RunState {
  readonly folder: string;
  readonly findings: readonly InspectFinding[];
  /** What `run.json` should say; `null` if nothing tells the run's ids. */
  readonly head: RunHead | null;
  readonly closed: readonly ClosedSegment[];
}

/** `files`: the listing of the whole scope. */
export function inspectRun(folder: string, files: readonly ListedFile[]): RunState {
  const findings: InspectFinding[] = [];
  const numbersOf = (kind: "segment" | "appends"): number[] =>
    files.flatMap(({ path }) => {
      const file = runFileAt(path);
      return file?.folder === folder && file.kind === kind ? [file.number] : [];
    });
  const spans = inspectSegments(folder, Math.max(0, ...numbersOf("segment")), findings);
  const closed = spans.slice(0, -1).map((span, at) => Object.assign({ segment: at + 1 }, span));
  const head = headFrom(folder, spans, numbersOf("appends"));
  const isHeadWrong = head === null || formatHead(head) !== readIfPossible(`${folder}/${headName}`);
  if (isHeadWrong) findings.push(ofFacts(`${folder}/${headName}`, head));
  const isClosedWrong = formatClosed(closed) !== readOrEmpty(`${folder}/${closedName}`);
  if (isClosedWrong) findings.push(ofFacts(`${folder}/${closedName}`, head));
  return { folder, findings, head, closed };
}

function ofFacts(path: string, head: RunHead | null): InspectFinding {
  if (head === null) {
    return finding("run-unknown", path, "it is missing or damaged, and the folder's name does not tell the run's ids");
  }
  return {
    problem: "facts-wrong",
    path,
    message: "it does not say of the run what its events say",
    remedy: "writes it again from the events",
  };
}

function inspectSegments(folder: string, last: number, findings: InspectFinding[]): Span[] {
  return Array.from({ length: last }, (_, at) => {
    const path = segmentPath(folder, at + 1);
    const text = readIfPossible(path);
    if (text === null) findings.push(finding("file-unreadable", path, "it is missing, or it is not UTF-8 text"));
    return inspectLines(path, text ?? "", findings);
  });
}

function inspectLines(path: string, text: string, findings: InspectFinding[]): Span {
  const lines = linesOf(text);
  let span: Span = { ...emptySpan, lines: lines.length, bytes: utf8Bytes(text) };
  let damaged = 0;
  for (const [at, parsed] of parseLines(lines).entries()) {
    if ("event" in parsed) {
      const { timestamp } = parsed.event;
      span = joinSpans(span, { ...emptySpan, firstAt: timestamp, lastAt: timestamp });
    } else if (lines[at]?.trim() !== "" && ++damaged <= runLimits.damageNamedMax) {
      findings.push(finding("line-damaged", path, `line ${at + 1} is no event: ${parsed.damage}`));
    }
  }
  const more = damaged - runLimits.damageNamedMax;
  if (more > 0) findings.push(finding("line-damaged", path, `${more} more lines are no events`));
  return span;
}

function finding(problem: string, path: string, message: string): InspectFinding {
  return { problem, path, message, remedy: null };
}

/** Keeps what only the present head knows: the ids, and when the run was begun. */
function headFrom(folder: string, spans: readonly Span[], appendFiles: readonly number[]): RunHead | null {
  const present = parseHead(readOrEmpty(`${folder}/${headName}`));
  const [agentId, runId] = folder.split("/").map(idOf);
  const ids = present ?? { agentId, runId };
  if (typeof ids.agentId !== "string" || typeof ids.runId !== "string" || spans.length === 0) return null;
  const open = spans.at(-1) ?? emptySpan;
  const closed = spans.slice(0, -1).reduce(joinSpans, emptySpan);
  const isSame = present !== null && present.closedSegments === spans.length - 1 && present.open.lines === open.lines;
  return {
    agentId: ids.agentId,
    runId: ids.runId,
    createdAt: present?.createdAt ?? joinSpans(closed, open).firstAt,
    closedSegments: spans.length - 1,
    closed,
    open,
    lastAppend: isSame ? present.lastAppend : { segment: spans.length, line: open.lines },
    appendIds: appendFiles.reduce((sum, each) => sum + linesOf(readOrEmpty(appendIdsPath(folder, each))).length, 0),
    appendIdFiles: Math.max(0, ...appendFiles),
  };
}

/** A file that a person has changed beyond recognition goes to the trash first. */
export function mendRun({ folder, head, closed }: RunState): void {
  if (head === null) return;
  replace(`${folder}/${headName}`, formatHead(head), (text) => parseHead(text) !== null);
  if (closed.length > 0) replace(`${folder}/${closedName}`, formatClosed(closed), (text) => text.startsWith("{"));
}

function replace(path: string, text: string, isOwn: (present: string) => boolean): void {
  const present = readIfPossible(path);
  if (present === text) return;
  if (present !== null && !isOwn(present)) runs.trash(path);
  runs.write(path, text);
}
