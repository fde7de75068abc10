/** JSON on its way into a guest and out of it. */
import { hasLoneSurrogate } from "../../shared/text.ts";
import { ToolError } from "../values/tool-error.ts";

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

/** A tool's input as the JSON text that enters the guest. What it says is the guest's to judge. */
export function encodeInput(toolName: string, input: unknown, bytesMax: number): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(input);
  } catch (error) {
    throw wrongInput(toolName, "not serialisable", "a JSON object", error);
  }
  if (text === undefined)
    throw wrongInput(toolName, input === undefined ? "missing" : `a ${typeof input}`, "a JSON object");
  const bytes = Buffer.byteLength(text);
  if (bytes > bytesMax) {
    throw wrongInput(toolName, `${bytes} bytes of JSON`, `at most ${bytesMax} bytes`);
  }
  return text;
}

/** `INPUT_INVALID` for the input as a whole. */
export function wrongInput(toolName: string, value: string, allowed: string, cause?: unknown): ToolError {
  const message = `Cannot call ${toolName}: input is ${value}, allowed: ${allowed}`;
  return new ToolError("INPUT_INVALID", message, { cause, issues: [{ field: "input", value, allowed }] });
}
