/** What adapters that keep a transcript in a run have in common. */
import { RunHistoryError } from "./run-history-error.ts";
import type { RunHistoryContext } from "./run-history.ts";

/** The context for a transcript, in which anybody's words can be: what tools have returned is there, too. */
export const ofTranscript = (ctx: RunHistoryContext): RunHistoryContext => ({
  ...ctx,
  origin: ctx.origin ?? { class: "tool_external" },
});

/** Whether an append failed because another change was stored first, or the run was deleted. */
export const isOvertaken = (error: unknown): boolean =>
  error instanceof RunHistoryError && (error.code === "RUN_CHANGED" || error.code === "CURSOR_INVALID");
