/** What a model is told of a result. */
import type { EntryOrigin } from "./entry-origin.ts";
import { originLines } from "./origin-lines.ts";
import { seenIn } from "./seen-in.ts";

/** A result of `runtime.call` or `callAsHost`. */
export type AnsweredCall = AnsweredSuccess | AnsweredFailure;

interface AnsweredSuccess {
  readonly ok: true;
  readonly message: string;
  readonly data: unknown;
  readonly origins?: readonly EntryOrigin[];
}

interface AnsweredFailure {
  readonly ok: false;
  readonly error: { readonly code: string; readonly message: string; readonly blame?: unknown };
  readonly pending?: object;
}

/** For a tool's answer in any API. */
export interface ModelAnswer {
  readonly text: string;
  /** What the API calls `is_error` or `isError`: the model can correct the call. */
  readonly isError: boolean;
}

/**
 * Turns a result into the text that a model gets. Whoever passes tool calls on to `runtime.call` answers with it.
 *
 * - A success: a sentence, the data as JSON, and where entries come from that the user has neither written nor approved.
 * - A failure: `{ "error": { code, message, retryable, issues? } }`, which says how to correct the call.
 * - A write that waits for the user's approval (`WRITE_PENDING`) is no failure: the text says that it is a suggestion, so
 *   that the model does not try again.
 *
 * Hidden characters are shown as their escapes. Never throws.
 *
 * @example
 * const { text, isError } = modelAnswer(await runtime.call(name, input, { userId: "alice", callId: id }));
 * const block = { type: "tool_result", tool_use_id: id, is_error: isError, content: text };
 */
export function modelAnswer(result: AnsweredCall): ModelAnswer {
  if (!result.ok) return result.pending ? { text: result.error.message, isError: false } : failed(result);
  const { message, data } = seenIn({ message: result.message, data: result.data });
  const parts = [message, JSON.stringify(data), originLines(result.origins)];
  return { text: parts.filter((part) => part !== "").join("\n"), isError: false };
}

/** Whose fault it was is for programs. */
function failed({ error }: AnsweredFailure): ModelAnswer {
  return { text: JSON.stringify({ error: { ...seenIn(error), blame: undefined } }), isError: true };
}
