import type { RunHistoryContext } from "./run-history.ts";

/** The context for a transcript, in which anybody's words can be: what tools have returned is there, too. */
export const ofTranscript = (ctx: RunHistoryContext): RunHistoryContext => ({
  ...ctx,
  origin: ctx.origin ?? { class: "tool_external" },
});
