/**
 * What a wrong value of an input can only mean. Models, and the programs that carry their calls, send JSON as a text where
 * no text is allowed, and `null` or `""` for a field that they do not use.
 */
import { jsonDepth } from "../../shared/text.ts";

/** For whom an input is checked, and what counts as nothing. */
export interface Leniency {
  /** Fields of the tool's other commands. They count as nothing if they are `null`, and from a model if they are empty. */
  readonly otherFields: readonly string[];
  /** Whether only programs call the tool: then a text is a text, and only `null` counts as nothing. */
  readonly isExact: boolean;
}

/**
 * Whether a wrong value of an optional field says nothing, so that the field counts as left out. A field such as `ifUpdated`
 * is a guard, without which more is done: a value that got lost must not open it.
 */
export const saysNothing = (name: PropertyKey, value: unknown, { isExact }: Leniency): boolean =>
  value === null || (!isExact && value === "" && !/^if[A-Z]/.test(String(name)));

/** Whether a field of another command says nothing. */
export function isUnused(name: string, value: unknown, { otherFields, isExact }: Leniency): boolean {
  if (!otherFields.includes(name)) return false;
  return value === null || (!isExact && isEmpty(value));
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" ? Object.keys(Object(value)).length === 0 : !value;
}

/** The value that a text in place of another type holds as JSON. The text itself if it holds none, or another text. */
export function heldBy(text: string): unknown {
  // The engine's parser has no room for more levels than it has stack.
  if (jsonDepth(text) > depthMax) return text;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "string" ? text : value;
  } catch (error) {
    // Not what the engine throws when it is out of memory.
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}

/** As of every input. */
const depthMax = 64;
