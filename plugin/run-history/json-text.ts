/** JSON that a caller or a person wrote. */
import { isNumeric } from "../../shared/run-history/numeric.ts";

/** Returns for an error that says something about a text. Throws any other again, such as one of a full memory. */
export function refusedJson(error: unknown): void {
  if (error instanceof SyntaxError || error instanceof RangeError) return;
  if (error instanceof Error && error.message === "stack overflow") return;
  throw error;
}

/** The value, or `undefined` for a text that is not one JSON value. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    refusedJson(error);
    return undefined;
  }
}

/** Whether arrays and objects are nested more than so many levels deep. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null || isNumeric(value)) return false;
  return levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1));
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
