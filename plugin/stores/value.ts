/** An entry's value: a text, or any other JSON value. */
import { isTooDeep, valueDepthMax } from "../../shared/data-depth.ts";
import { exceedsUtf8Bytes, quoted, utf8Bytes } from "../../shared/text.ts";
import { hiddenInBody, whyRefused } from "../kit/hidden-text.ts";
import { ToolError } from "../kit/tool-error.ts";
import { entryLimits } from "./store-limits.ts";

export interface Value {
  readonly format: "text" | "json";
  /** The text, or the JSON text of a value that is none. */
  readonly content: string;
}

export function valueFrom(given: unknown): Value {
  // It would have no room in an answer: nobody could read it, nor the others that are found with it.
  if (isTooDeep(given, valueDepthMax)) {
    throw new ToolError(
      "INPUT_INVALID",
      `Cannot store the value: it is over ${valueDepthMax} levels deep, allowed: at most ${valueDepthMax}`,
    );
  }
  const value: Value =
    typeof given === "string" ? { format: "text", content: given } : { format: "json", content: JSON.stringify(given) };
  checkValue(value);
  return value;
}

/** Throws `VALUE_TOO_LARGE` or `INPUT_INVALID`. */
export function checkValue({ content }: Value): void {
  if (exceedsUtf8Bytes(content, entryLimits.valueBytesMax)) throw new ToolError("VALUE_TOO_LARGE", "Value too large");
  if (content.isWellFormed()) return;
  throw new ToolError(
    "INPUT_INVALID",
    "Cannot store the value: it has a lone surrogate, allowed: text that UTF-8 can encode",
  );
}

/** Throws `INPUT_INVALID` for what a model writes and could not get back as it is. Programs can store any text. */
export function refuseHidden(field: string, text: string): void {
  const place = hiddenInBody(text);
  if (place === null) return;
  const allowed = `text ${whyRefused(place)}`;
  const issues = [{ field, value: quoted(text), allowed }];
  throw new ToolError(
    "INPUT_INVALID",
    `Cannot store the value: ${field} is ${quoted(text)}, allowed: ${allowed}`,
    issues,
  );
}

/** As callers get it. */
export const shownValue = ({ format, content }: Value): unknown =>
  format === "text" ? content : (JSON.parse(content) as unknown);

/** The bytes of anything as JSON in UTF-8. */
export const jsonBytes = (value: unknown): number => utf8Bytes(JSON.stringify(value));

/** What it is, for messages: "object", "array", "number", "null". */
export function typeOfValue(value: Value): string {
  const shown = shownValue(value);
  if (shown === null) return "null";
  return Array.isArray(shown) ? "array" : typeof shown;
}
