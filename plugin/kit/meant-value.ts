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
  /** The same for what is inside of a field: no object there has the fields of other commands. Default: as it is. */
  readonly within?: Leniency;
}

const lenient: Leniency = { otherFields: [], isExact: false };
const exact: Leniency = { otherFields: [], isExact: true };

export function leniencyOf(otherFields: readonly string[], isExact: boolean): Leniency {
  const within = isExact ? exact : lenient;
  return otherFields.length === 0 ? within : { otherFields, isExact, within };
}

/**
 * Whether a wrong value of an optional field says nothing, so that the field counts as left out. A field such as `ifUpdated`
 * is a guard, without which more is done: a value that got lost must not open it.
 */
export const saysNothing = (name: string, value: unknown, leniency: Leniency | null): boolean =>
  leniency !== null && (value === null || (!leniency.isExact && value === "" && !/^if[A-Z]/.test(name)));

/** Whether a field of another command says nothing. */
export function isUnused(name: string, value: unknown, leniency: Leniency | null): boolean {
  if (!leniency?.otherFields.includes(name)) return false;
  if (value === null || leniency.isExact) return value === null;
  return typeof value === "object" ? Object.keys(value).length === 0 : !value;
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
