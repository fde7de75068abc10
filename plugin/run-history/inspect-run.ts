/** Compares a run's facts, `run.json` and `closed.jsonl`, with its events. Reads each file once. */
import type { ListedFile } from "../../shared/abi.ts";
import type { InspectFinding } from "../../shared/roles.ts";
import { formatClosed } from "./closed-segments.ts";
import { parseLines } from "./event-line.ts";
import {
  appendIdsPath,
  closedName,
  headName,
  linesOf,
  linesText,
  noTextLine,
  readFile,
  readLines,
  readSegment,
  runFileAt,
  runs,
  segmentPath,
  textOf,
  unreadable,
} from "./run-files.ts";
import type { FileText, RunFile } from "./run-files.ts";
import { emptySpan, formatHead, joinSpans, parseHead } from "./run-head.ts";
import type { RunHead, Span } from "./run-head.ts";
import { folderOf } from "./run-ids.ts";
import type { RunIds } from "./run-ids.ts";
import { runLimits } from "./run-limits.ts";
import { idOf } from "./run-path.ts";

export interface RunState {
  readonly findings: readonly InspectFinding[];
  /** Facts that the run's events contradict, and append ids that cannot be read. */
  readonly wrong: readonly WrongFacts[];
}

interface WrongFacts {
  readonly path: string;
  /** What the file should say; `null` if there should be none. */
  readonly right: string | null;
  /** Whether a tool wrote the present file, so that it can be overwritten; `null` if there is no file. */
  readonly isOwn: boolean | null;
}

/** `files`: the run's. */
export function inspectRun(folder: string, files: readonly ListedFile[]): RunState {
  const findings: InspectFinding[] = [];
  const numbersOf = (kind: RunFile["kind"]): number[] =>
    files.flatMap(({ path }) => {
      const file = runFileAt(path);
      return file?.kind === kind ? [file.number] : [];
    });
  const sizes = new Map(files.map(({ path, bytes }) => [path, bytes]));
  const presentAt = (path: string): FileText => (sizes.has(path) ? readFile(path) : null);
  const spans = inspectSegments(folder, { numbers: numbersOf("segment"), sizes }, findings);
  const { damaged, ...appendIds } = inspectAppendIds(folder, numbersOf("appends"), findings);

  const [headPath, closedPath] = [`${folder}/${headName}`, `${folder}/${closedName}`];
  const headText = presentAt(headPath);
  const closedText = presentAt(closedPath);
  const present = parseHead(textOf(headText));
  const ids = idsIn(folder, present);
  const wrong: WrongFacts[] = [];
  if (ids === null) findings.push(finding("run-unknown", headPath, isUnknown));
  else {
    const right = formatHead({ ...headFrom(ids, spans, present), ...appendIds });
    if (right !== headText) wrong.push({ path: headPath, right, isOwn: headText === null ? null : present !== null });
  }
  const closedSpans = spans.slice(0, -1).map((span, at) => Object.assign({ segment: at + 1 }, span));
  const right = closedSpans.length > 0 ? formatClosed(closedSpans) : null;
  const isOwn = closedText === null ? null : right !== null && textOf(closedText).startsWith("{");
  if (right !== closedText) wrong.push({ path: closedPath, right, isOwn });
  return { findings: [...findings, ...wrong.map(factsWrong)], wrong: [...wrong, ...damaged] };
}

const isUnknown = "it is missing or damaged, and the folder's name does not tell the run's ids";

const factsWrong = ({ path, right }: WrongFacts): InspectFinding => ({
  problem: "facts-wrong",
  path,
  message: "it does not say of the run what its events say",
  remedy: right === null ? "moves it to the trash" : "writes it again from the events",
});

/** A run has at least one segment. Absent ones are empty. */
function inspectSegments(
  folder: string,
  { numbers, sizes }: { readonly numbers: readonly number[]; readonly sizes: ReadonlyMap<string, number> },
  findings: InspectFinding[],
): Span[] {
  const present = new Set(numbers);
  const last = Math.max(1, ...numbers);
  const spans: Span[] = [];
  for (let number = 1; number <= last; number++) {
    const path = segmentPath(folder, number);
    const { text, lines } = present.has(number) ? readSegment(path) : { text: null, lines: [] };
    const isText = typeof text === "string";
    // Otherwise the findings about its lines say what cannot be read.
    if (!isText && lines.length === 0) {
      findings.push(finding("file-unreadable", path, "it is missing, or it is not UTF-8 text"));
    }
    spans.push(inspectLines({ path, bytes: isText ? (sizes.get(path) ?? 0) : 0 }, lines, findings));
    // As in `rebuildRun`.
    if (!isText && number === last && present.has(last)) spans.push(emptySpan);
  }
  return spans;
}

function inspectAppendIds(
  folder: string,
  numbers: readonly number[],
  findings: InspectFinding[],
): Pick<RunHead, "appendIds" | "appendIdFiles"> & { readonly damaged: readonly WrongFacts[] } {
  let appendIds = 0;
  const damaged: WrongFacts[] = [];
  for (const number of numbers) {
    const path = appendIdsPath(folder, number);
    const { text, readable } = readLines(path);
    const lines = linesOf(readable ?? "");
    const kept = lines.filter((line) => line !== noTextLine);
    appendIds += kept.length;
    if (text !== unreadable) continue;
    damaged.push({ path, right: linesText(kept), isOwn: false });
    if (readable === null) findings.push({ ...finding("file-unreadable", path, isLost), remedy: forgetsAll });
    for (const [at, line] of lines.entries()) {
      if (line !== noTextLine) continue;
      const message = `line ${at + 1} is no append id: it is not UTF-8 text`;
      findings.push({ ...finding("line-damaged", path, message), remedy: forgetsLine });
    }
  }
  return { appendIds, appendIdFiles: Math.max(0, ...numbers), damaged };
}

const isLost = "it cannot be read, so appends whose ids belong in it fail";

const forgetsAll = "moves it to the trash: appends with its ids would be stored again";

const forgetsLine =
  "moves the file to the trash and writes its other lines again: an append with this id would be stored again";

/** The listing tells the bytes: to count those of many segments takes the engine long. */
function inspectLines({ path, bytes }: ListedFile, lines: readonly string[], findings: InspectFinding[]): Span {
  let span: Span = { ...emptySpan, lines: lines.length, bytes };
  let damaged = 0;
  for (const [at, parsed] of parseLines(lines).entries()) {
    if ("event" in parsed) {
      const { timestamp } = parsed.event;
      span = joinSpans(span, { ...emptySpan, firstAt: timestamp, lastAt: timestamp });
    } else if (lines[at]?.trim() !== "" && ++damaged <= runLimits.damageNamedMax) {
      const damage = lines[at] === noTextLine ? "it is not UTF-8 text" : parsed.damage;
      findings.push(finding("line-damaged", path, `line ${at + 1} is no event: ${damage}`));
    }
  }
  const more = damaged - runLimits.damageNamedMax;
  if (more > 0) findings.push(finding("line-damaged", path, `${more} more lines are no events`));
  return span;
}

/** A finding that only a person can mend. */
export function finding(problem: string, path: string, message: string): InspectFinding {
  return { problem, path, message, remedy: null };
}

/** Keeps what only the present head knows: when the run was begun, and its last snapshot, at which a load looks first. */
function headFrom(
  ids: RunIds,
  spans: readonly Span[],
  present: RunHead | null,
): Omit<RunHead, "appendIds" | "appendIdFiles"> {
  const open = spans.at(-1) ?? emptySpan;
  const closed = spans.slice(0, -1).reduce(joinSpans, emptySpan);
  const isSame = present !== null && present.closedSegments === spans.length - 1 && present.open.lines === open.lines;
  return {
    ...ids,
    createdAt: present?.createdAt ?? joinSpans(closed, open).firstAt,
    closedSegments: spans.length - 1,
    closed,
    open,
    lastAppend: isSame ? present.lastAppend : { segment: spans.length, line: open.lines },
    lastSnapshot: present?.lastSnapshot,
    lastParts: isSame ? present.lastParts : undefined,
  };
}

/** A shortened folder name does not tell the ids; then the present head does. */
function idsIn(folder: string, present: RunHead | null): RunIds | null {
  const [agentId, runId] = folder.split("/").map(idOf);
  if (typeof agentId === "string" && typeof runId === "string") return { agentId, runId };
  if (present === null || folderOf(present) !== folder) return null;
  return { agentId: present.agentId, runId: present.runId };
}

/** A file that a person has changed beyond recognition goes to the trash first. */
export function mendRun({ wrong }: RunState): void {
  for (const { path, right, isOwn } of wrong) {
    if (isOwn === false) runs.trash(path);
    if (right !== null) runs.write(path, right);
  }
}
