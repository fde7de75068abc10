import type { InputIssue } from "../envelope.ts";
import { isNumeric } from "../numeric.ts";
import { presentValue } from "../text.ts";
import { EventFault } from "./event-fault.ts";

/** What a failed call of a runtime says, as far as this package reads it. */
export interface CallFailure {
  readonly code: string;
  readonly of?: string | undefined;
  readonly message: string;
  readonly retryable?: boolean;
  readonly issues?: readonly InputIssue[] | undefined;
}

/**
 * What every function of `memcell/run-history` throws, and what its promises reject with. The messages of the codes
 * that begin with `EVENT_` or `JSON_` are goa-ai's.
 *
 * @example
 * try {
 *   decodeToolCallData(newEvent(undefined, plannerNoteData({ note: "Look at the map" })));
 * } catch (error) {
 *   console.log(error instanceof RunHistoryError, error.code); // true EVENT_TYPE_MISMATCH
 *   console.log(error.message); // memory: decode planner_note as tool_call
 * }
 */
export class RunHistoryError extends Error {
  override readonly name = "RunHistoryError";
  readonly code: string;
  /** The general code that the family's own code is a case of; `undefined` if `code` is itself a general one. */
  readonly of: string | undefined;
  /** Whether the same call can succeed later. With the same `appendId`, an append can always be repeated. */
  readonly retryable: boolean;
  /** Each wrong field, its value and what is allowed. */
  readonly issues: readonly InputIssue[] | undefined;

  constructor({ code, of, message, retryable = false, issues }: CallFailure) {
    super(message);
    this.code = code;
    this.of = of;
    this.retryable = retryable;
    this.issues = issues;
  }
}

/** `field`: `events[2].timestamp`, say. `action`: what cannot be done. */
export function inputError(action: string, { field, value, allowed }: InputIssue): RunHistoryError {
  const message = `Cannot ${action}: ${field} is ${value}, allowed: ${allowed}`;
  return new RunHistoryError({ code: "INPUT_INVALID", message, issues: [{ field, value, allowed }] });
}

/** Returns the result of some work. Throws an `EventFault` of it as a `RunHistoryError`. */
export function withoutFaults<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw error instanceof EventFault ? errorOf(error) : error;
  }
}

function errorOf({ code, message, details }: EventFault): RunHistoryError {
  const { field, value, allowed = "a JSON object" } = details;
  const place = field === undefined ? "data" : `data.${field}`;
  const issues = [{ field: place, value: isNumeric(value) ? String(value) : presentValue(value), allowed }];
  return new RunHistoryError({ code, of: "INPUT_INVALID", message, issues });
}
