/** What adapters that keep a transcript in a run have in common. */
import { quoted } from "../text.ts";
import { RunHistoryError } from "./run-history-error.ts";
import type { LoadOptions, RunHistory, RunHistoryContext } from "./run-history.ts";
import type { Snapshot } from "./snapshot.ts";

/** The context for a transcript, in which anybody's words can be: what tools have returned is there, too. */
export const ofTranscript = (ctx: RunHistoryContext): RunHistoryContext => ({
  ...ctx,
  origin: ctx.origin ?? { class: "tool_external" },
});

export interface TranscriptRun {
  readonly agentId: string;
  readonly runId: string;
  /** Events in other forms belong to other programs. */
  readonly format: string;
}

/** The events of a transcript in the order of insertion. Throws `ENTRY_UNREADABLE` if lines of the run are damaged. */
export async function loadTranscript(
  history: RunHistory,
  { agentId, runId, format }: TranscriptRun,
  from?: LoadOptions["from"],
): Promise<Snapshot> {
  const load = (start?: LoadOptions["from"]): Promise<Snapshot> =>
    history.load(agentId, runId, { from: start, order: "insertion" });
  let loaded = await load(from);
  const [first] = loaded.events;
  // Another program's snapshot says nothing of the events before it.
  if (first?.type === "snapshot" && first.data["format"] !== format) loaded = await load();
  if (loaded.meta.damagedLines > 0) throw damagedTranscript(runId);
  const isOwn = ({ type, data }: Snapshot["events"][number]): boolean =>
    (type === "opaque" || type === "snapshot") && data["format"] === format;
  return { ...loaded, events: loaded.events.filter(isOwn) };
}

/** The JSON text of an event; `undefined` if a person has made it something else. */
export function valueOf({ data }: Snapshot["events"][number]): unknown {
  try {
    return JSON.parse(String(data["json"]));
  } catch {
    return undefined;
  }
}

export const damagedTranscript = (runId: string): RunHistoryError =>
  new RunHistoryError({
    code: "ENTRY_UNREADABLE",
    message: `Cannot read the session: lines of the run ${quoted(runId)} are damaged; "memcell doctor" names them`,
  });

/** Whether an append failed because another change was stored first, or the run was deleted. */
export const isOvertaken = (error: unknown): boolean =>
  error instanceof RunHistoryError && (error.code === "RUN_CHANGED" || error.code === "CURSOR_INVALID");
