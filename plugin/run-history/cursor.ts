/** A reader's place in a run, as an opaque text. */
import { fnv } from "../kit/linear-hashing.ts";
import { inputError } from "../kit/tool-error.ts";
import type { ToolError } from "../kit/tool-error.ts";
import type { RunHead } from "./run-head.ts";

/** The lines before `line` of a segment. */
export interface Place {
  readonly segment: number;
  readonly line: number;
}

/** An event's place in the order of time: equal times in the order of insertion. */
export interface TimePlace extends Place {
  /** `sortKeyOf` its timestamp. */
  readonly key: string;
}

export interface Cursor {
  /** The reader has all events before this place, in the order of insertion. */
  readonly since: Place;
  /**
   * Only while the reader loads in pages. `until`: where the run ended when the load began. `after`: the last event of the
   * page before, in the order of time. There is none in the order of insertion, in which `since` moves with the pages.
   */
  readonly page: { readonly until: Place; readonly after?: TimePlace | undefined } | null;
}

export const runStart: Place = { segment: 1, line: 0 };

type Identity = Pick<RunHead, "agentId" | "runId" | "createdAt">;

/** The cursor of a run that does not exist yet. It is valid for the run that begins later. */
export const noRun = "1-0";

export function formatCursor({ since, page }: Cursor, run: Identity): string {
  const places = [since, page?.until, page?.after].filter((place) => place !== undefined);
  const numbers = places.flatMap(({ segment, line }) => [segment, line]);
  return ["1", identityOf(run), ...numbers, ...(page?.after ? [page.after.key] : [])].join("-");
}

const form =
  /^1-([0-9a-f]{8})-(\d{1,9})-(\d{1,9})(?:-(\d{1,9})-(\d{1,9})(?:-(\d{1,9})-(\d{1,9})-([\d:.T-]{19,29}))?)?$/;

/** Throws `CURSOR_INVALID`. */
export function parseCursor(text: string, run: Identity, input: CursorInput): Cursor {
  if (text === noRun) return { since: runStart, page: null };
  const [, identity, ...parts] = form.exec(text) ?? [];
  if (identity !== identityOf(run)) throw invalidCursor(text, input);
  const [segment = 0, line = 0, untilSegment = 0, untilLine = 0, afterSegment = 0, afterLine = 0] = parts.map(Number);
  const since = { segment, line };
  if (parts[2] === undefined) return { since, page: null };
  const until = { segment: untilSegment, line: untilLine };
  const key = parts[6];
  return { since, page: { until, after: key === undefined ? key : { segment: afterSegment, line: afterLine, key } } };
}

/** Which tool has been given the cursor, and in which field. */
export interface CursorInput {
  readonly toolName: string;
  readonly field: string;
}

export function invalidCursor(text: string, { toolName, field }: CursorInput): ToolError {
  const allowed = "a cursor that LoadRun returned for this run, or none to load it from its start";
  const value = text.length > 100 ? "a long text" : JSON.stringify(text);
  return inputError(toolName, [{ field, value, allowed }], "CURSOR_INVALID");
}

const identityOf = ({ agentId, runId, createdAt }: Identity): string =>
  fnv(JSON.stringify([agentId, runId, createdAt]))
    .toString(16)
    .padStart(8, "0");
