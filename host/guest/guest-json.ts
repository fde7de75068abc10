/** Text that enters or leaves a guest: JSON in UTF-8. */
import { hasLoneSurrogate } from "../../shared/text.ts";
import { ToolError } from "../values/tool-error.ts";

/**
 * Parses JSON from a guest. Returns `undefined` for invalid JSON. A lone surrogate in a string is invalid too: files
 * cannot contain it, nor can strings in other languages.
 */
export function parseJson(text: string): unknown {
  try {
    return surrogateEscape.test(text) ? JSON.parse(text, refuseHalfPairs) : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The text comes from UTF-8, so a lone surrogate can only be an escape. Few texts contain one. */
const surrogateEscape = /\\u[dD][89a-fA-F]/;

function refuseHalfPairs(key: string, value: unknown): unknown {
  if (hasLoneSurrogate(key) || (typeof value === "string" && hasLoneSurrogate(value)))
    throw new RangeError("half a pair");
  return value;
}

/** Encodes a tool's input as the JSON text that enters the guest. The guest checks the content. */
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

/** Bytes that are not UTF-8 give an empty text, which is not JSON. The SDK would insert replacement characters. */
export function strictText(bytes: ArrayBufferLike): string {
  try {
    // Without threads of its own, the SDK makes no shared buffers.
    return utf8.decode(bytes as ArrayBuffer);
  } catch {
    return "";
  }
}

/** Keeps a byte order mark, so that such a text is not JSON. */
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
