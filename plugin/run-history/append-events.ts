/** Appends a batch of events to a run: all of them, next to each other, or none. */
import { storeLimits } from "../../shared/limits.ts";
import { normalTimestamp } from "../../shared/run-history/timestamp.ts";
import { counted, utf8Bytes } from "../../shared/text.ts";
import { now } from "../kit/capabilities.ts";
import { hasReturnsAlone } from "../kit/file-text.ts";
import type { Answer } from "../kit/serve-tool.ts";
import { ToolError } from "../kit/tool-error.ts";
import { addAppend, findAppend } from "./append-ids.ts";
import { checkEvent } from "./check-event.ts";
import type { CheckedEvent } from "./check-event.ts";
import { invalidCursor, parseCursor } from "./cursor.ts";
import { findRun, rebuildRun } from "./find-run.ts";
import type { Run } from "./find-run.ts";
import { largestRuns } from "./list-runs.ts";
import { headName, readFile, readSegment, runs, segmentPath, unreadable } from "./run-files.ts";
import { emptySpan, formatHead } from "./run-head.ts";
import { checkId, checkIds, folderOf } from "./run-ids.ts";
import type { RunIds } from "./run-ids.ts";
import { runLimits } from "./run-limits.ts";
import type { AppendInput, AppendOutput } from "./schemas.ts";
import { StaleHead, writeSegments } from "./write-segments.ts";

const toolName = "AppendRunEvents";

const cursorInput = { toolName, field: "unchangedSince" } as const;

export function appendEvents(input: AppendInput): Answer<AppendOutput> {
  const { agentId, runId, events, appendId, unchangedSince, bytesToFollow } = input;
  if (events.length === 0) return answerOf(0);
  const ids = { agentId, runId };
  checkIds(toolName, ids);
  if (appendId !== undefined) checkId(toolName, "appendId", appendId, runLimits.appendIdBytesMax);
  const time = callTime();
  const checked = events.map((event, at) => checkEvent(event, `events[${at}]`, time));
  const run = findRun(ids) ?? beginRun(ids, time);
  const earlier = appendId === undefined ? null : findAppend(run.folder, run.head, appendId);
  if (earlier !== null) return answerOf(earlier);
  try {
    if (bytesToFollow !== undefined) checkRoom(checked, bytesToFollow);
    store(run, checked, { appendId, unchangedSince });
  } catch (error) {
    throw error instanceof ToolError && error.code === "QUOTA_EXCEEDED" ? withAdvice(error) : error;
  }
  return answerOf(checked.length);
}

/** In the form that all stored timestamps have: without zeros at the end of a second's fraction. */
function callTime(): string {
  const time = now();
  return normalTimestamp(time) ?? time;
}

const answerOf = (appended: number): Answer<AppendOutput> => ({
  message: `${counted(appended, "event")} appended`,
  data: { appended },
  shows: [],
});

function beginRun(ids: RunIds, createdAt: string): Run {
  const files = runs.list().length;
  if (files >= runLimits.filesMax) {
    const message = `Cannot begin a run: the runs have ${files} files, at most ${runLimits.filesMax} allowed`;
    throw withAdvice(new ToolError("QUOTA_EXCEEDED", message));
  }
  const counts = { closedSegments: 0, appendIds: 0, appendIdFiles: 0 };
  const [closed, open] = [emptySpan, emptySpan];
  const head = { ...ids, createdAt, ...counts, closed, open, lastAppend: { segment: 1, line: 0 } };
  return { folder: folderOf(ids), head };
}

/** What has been stored of a text cannot be taken back, so its first part is refused if there is no room for the last. */
function checkRoom(events: readonly CheckedEvent[], bytesToFollow: number): void {
  const known = [...runs.list(), ...runs.list("trash/"), ...events];
  const bytes = known.reduce((sum, each) => sum + each.bytes, bytesToFollow);
  if (bytes <= storeLimits.scopeBytesMax) return;
  const message = `Cannot append: the runs would hold ${bytes} bytes with their trash, at most ${storeLimits.scopeBytesMax} allowed`;
  throw new ToolError("QUOTA_EXCEEDED", message);
}

type AppendTerms = Pick<AppendInput, "appendId" | "unchangedSince">;

function store(run: Run, events: readonly CheckedEvent[], { appendId, unchangedSince }: AppendTerms): void {
  const { folder } = run;
  const head = writeFresh(run, events, unchangedSince);
  const counts = appendId === undefined ? {} : addAppend(folder, head, { appendId, appended: events.length });
  runs.write(`${folder}/${headName}`, formatHead({ ...head, ...counts }));
}

/** Reads the whole run again if its head does not fit the open segment: a person has edited it, say. */
function writeFresh(run: Run, events: readonly CheckedEvent[], unchangedSince: string | undefined): Run["head"] {
  const openText = readFile(openPath(run)) ?? "";
  try {
    const isOwn = openText !== unreadable && !hasReturnsAlone(openText);
    if (isOwn && isOfSize(openText, run.head.open.bytes)) {
      checkUnchanged(run, unchangedSince);
      return writeSegments(run, openText, events);
    }
  } catch (error) {
    if (!(error instanceof StaleHead)) throw error;
  }
  const { agentId, runId, createdAt } = run.head;
  const rebuilt = rebuildRun({ agentId, runId }, run.folder) ?? beginRun({ agentId, runId }, createdAt);
  const fresh = { ...rebuilt, head: { ...rebuilt.head, createdAt } };
  checkUnchanged(fresh, unchangedSince);
  return writeSegments(fresh, runs.read(openPath(fresh)) ?? "", events);
}

/** Parts of a text change nothing that a reader sees: a long text's own ones are appended before it. */
function checkUnchanged(run: Run, cursor: string | undefined): void {
  if (cursor === undefined) return;
  const { since, page } = parseCursor(cursor, run.head, cursorInput);
  const open = run.head.closedSegments + 1;
  if (page !== null || since.segment > open) throw invalidCursor(cursor, cursorInput);
  for (let number = since.segment; number <= open; number++) {
    const first = number === since.segment ? since.line : 0;
    const { lines: all } = readSegment(segmentPath(run.folder, number));
    if (first > all.length) throw invalidCursor(cursor, cursorInput);
    const lines = all.slice(first);
    if (lines.every((line) => line.startsWith('{"type":"part"'))) continue;
    throw new ToolError("RUN_CHANGED", "Cannot append: events have been appended since the cursor; load them first");
  }
}

/** An ASCII text has as many characters as bytes. To count the bytes takes a tenth of an append. */
const isOfSize = (text: string, bytes: number): boolean => text.length === bytes || utf8Bytes(text) === bytes;

const openPath = ({ folder, head }: Run): string => segmentPath(folder, head.closedSegments + 1);

/** Says what to delete. */
function withAdvice({ code, message }: ToolError): ToolError {
  const largest = largestRuns(3);
  const named = largest.length > 0 ? `; the largest are ${largest.join(", ")}` : "";
  return new ToolError(code, `${message}. Delete runs and purge the trash${named}`);
}
