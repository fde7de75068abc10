/** Compares a run's facts, `run.json` and `closed.jsonl`, with its events. */
import type { InspectFinding } from "../../shared/roles.ts";
import { utf8Bytes } from "../../shared/text.ts";
import { formatClosed } from "./closed-segments.ts";
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
import type { RunFile } from "./run-files.ts";
import { emptySpan, formatHead, joinSpans, parseHead } from "./run-head.ts";
import type { RunHead, Span } from "./run-head.ts";
import { runLimits } from "./run-limits.ts";
import { idOf } from "./run-path.ts";

export interface RunState {
  readonly folder: string;
  readonly findings: readonly InspectFinding[];
  /** `run.json` and `closed.jsonl`, as they are and as they should be. */
  readonly facts: readonly Facts[];
}

interface Facts {
  readonly path: string;
  /** `null` if there is no file, or if it cannot be read. */
  readonly present: string | null;
  /** `null` if nothing tells it. */
  readonly right: string | null;
  /** Whether the present file is one that a tool wrote, so that nobody misses it. */
  readonly isOwn: boolean;
}

/** `paths`: those of the run's files. */
export function inspectRun(folder: string, paths: readonly string[]): RunState {
  const findings: InspectFinding[] = [];
  const numbersOf = (kind: RunFile["kind"]): number[] =>
    paths.flatMap((path) => {
      const file = runFileAt(path);
      return file?.kind === kind ? [file.number] : [];
    });
  const spans = inspectSegments(folder, numbersOf("segment"), findings);
  const closed = spans.slice(0, -1).map((span, at) => Object.assign({ segment: at + 1 }, span));
  const [headPath, closedPath] = [`${folder}/${headName}`, `${folder}/${closedName}`];
  const [headText, closedText] = [headPath, closedPath].map((path) =>
    paths.includes(path) ? readIfPossible(path) : null,
  ) as [string | null, string | null];
  const present = headText === null ? null : parseHead(headText);
  const head = headFrom(folder, { present, spans, appendFiles: numbersOf("appends") });
  const facts = [
    { path: headPath, present: headText, right: head && formatHead(head), isOwn: present !== null },
    { path: closedPath, present: closedText, right: formatClosed(closed), isOwn: closedText?.startsWith("{") === true },
  ];
  findings.push(...facts.filter((each) => isWrong(each)).map(findingOf));
  return { folder, findings, facts };
}

/** A run without closed segments has no file of them. */
const isWrong = ({ present, right }: Facts): boolean =>
  right === "" ? present !== null && present !== "" : present !== right;

function findingOf({ path, right }: Facts): InspectFinding {
  if (right === null) {
    return finding("run-unknown", path, "nothing tells the run's ids, or the run has no events");
  }
  return {
    problem: "facts-wrong",
    path,
    message: "it does not say of the run what its events say",
    remedy: "writes it again from the events",
  };
}

function inspectSegments(folder: string, numbers: readonly number[], findings: InspectFinding[]): Span[] {
  return Array.from({ length: Math.max(0, ...numbers) }, (_, at) => {
    const path = segmentPath(folder, at + 1);
    const text = numbers.includes(at + 1) ? readIfPossible(path) : null;
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

interface Known {
  readonly present: RunHead | null;
  readonly spans: readonly Span[];
  readonly appendFiles: readonly number[];
}

/** Keeps what only the present head knows: the ids, and when the run was begun. */
function headFrom(folder: string, { present, spans, appendFiles }: Known): RunHead | null {
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
export function mendRun({ facts }: RunState): void {
  for (const each of facts.filter(isWrong)) {
    const { path, present, right, isOwn } = each;
    if (right === null) continue;
    if (present !== null && !isOwn) runs.trash(path);
    runs.write(path, right);
  }
}
