/** JSON that a caller or a person wrote. */
import { refusedJson } from "../../shared/run-history/refused-json.ts";

/** Editors put a byte order mark at the start of a file. */
export const withoutMark = (text: string): string => (text.startsWith("\ufeff") ? text.slice(1) : text);

/** The value, or `undefined` for a text that is not one JSON value. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    refusedJson(error);
    return undefined;
  }
}

const unfitForLine = /[\n\r]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/**
 * The same JSON as one line of a file. Line ends are only between tokens, so a space can replace them. A lone surrogate
 * is only in a string; UTF-8 cannot encode it, but JSON has an escape for it.
 */
export function inOneLine(json: string): string {
  if (!/[\n\r]/.test(json) && json.isWellFormed()) return json.trim();
  return json.replaceAll(unfitForLine, (unit) => (unit < " " ? " " : `\\u${unit.charCodeAt(0).toString(16)}`)).trim();
}
