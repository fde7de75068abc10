import { hasLoneSurrogate } from "../../shared/text.ts";

/**
 * What a guest has written as JSON; `undefined` when it is none. A text with half of a surrogate pair in a string is none: no
 * file can hold it, and in other languages no string can.
 */
export function parseJson(text: string): unknown {
  try {
    return surrogateEscape.test(text) ? JSON.parse(text, refuseHalfPairs) : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The text is UTF-8, so half of a surrogate pair can only be written as an escape. Few texts have one. */
const surrogateEscape = /\\u[dD][89a-fA-F]/;

function refuseHalfPairs(key: string, value: unknown): unknown {
  if (hasLoneSurrogate(key) || (typeof value === "string" && hasLoneSurrogate(value)))
    throw new RangeError("half a pair");
  return value;
}
