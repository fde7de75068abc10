/** JSON whose numbers keep every digit. The only file that imports `lossless-json`. */
import { LosslessNumber, parse, stringify } from "lossless-json";

import { EventFault } from "./event-fault.ts";
import { refusedJson } from "./refused-json.ts";

export { LosslessNumber };

/**
 * Parses one JSON value; each number becomes a `LosslessNumber`. Of equal keys the last one counts, as in Go. Throws
 * `JSON_INVALID` or `JSON_TRAILING_DATA`.
 */
export function parseLossless(text: string): unknown {
  try {
    return parse(text, undefined, { onDuplicateKey: ({ newValue }) => newValue });
  } catch (cause) {
    throw jsonFault(text, cause);
  }
}

/** As `parseLossless`, but `undefined` for a text that is not one JSON value. */
export function readLossless(text: string): unknown {
  try {
    return parseLossless(text);
  } catch (error) {
    if (error instanceof EventFault) return undefined;
    throw error;
  }
}

/** Writes a value in one line. Numbers can be `number`, `bigint` or `LosslessNumber`. */
export function stringifyLossless(value: unknown, replacer?: (key: string, value: unknown) => unknown): string {
  const text = stringify(value, replacer);
  if (text === undefined) throw new TypeError("Cannot write JSON: the value has no JSON form");
  return text;
}

/** goa-ai has words of its own for a second value after the first. Throws an error of another kind again. */
function jsonFault(text: string, cause: unknown): EventFault {
  refusedJson(cause);
  const isTrailing = cause instanceof SyntaxError && cause.message.startsWith("Expected end of input");
  if (isTrailing) return new EventFault("JSON_TRAILING_DATA", "rawjson: trailing data", { value: text });
  return new EventFault("JSON_INVALID", "rawjson: invalid JSON", { value: text });
}
