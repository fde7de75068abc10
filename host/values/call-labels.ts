import { callLimits } from "../../shared/limits.ts";
import { quoted } from "../../shared/text.ts";

/** What a caller wants to find again in the audit log, by name. */
export type Labels = Readonly<Record<string, string>>;

/** Labels as they were asked for, looked at once. */
export type AskedLabels =
  | { readonly isValid: true; /** `null` where there are none. */ readonly labels: Labels | null }
  | { readonly isValid: false; /** What they are, for a message. */ readonly value: string };

const { labelsMax, labelNameCharsMax, labelValueCharsMax } = callLimits;

export const labelNamePattern: RegExp = new RegExp(`^[a-z0-9._-]{1,${labelNameCharsMax}}$`);
export const labelValuePattern: RegExp = new RegExp(`^[\\x20-\\x7e]{0,${labelValueCharsMax}}$`);

export const labelsAllowed =
  `an object of at most ${labelsMax} names of 1 to ${labelNameCharsMax} characters "a-z0-9._-", ` +
  `each with a text of at most ${labelValueCharsMax} printable ASCII characters, or nothing`;

/** A copy of what a caller without types may have passed. Nothing of it is read twice, and nothing of it throws. */
export function readLabels(asked: unknown): AskedLabels {
  if (asked === undefined) return { isValid: true, labels: null };
  try {
    return copyLabels(asked);
  } catch {
    return invalid("an object that cannot be read");
  }
}

function copyLabels(asked: unknown): AskedLabels {
  if (asked === null) return invalid("null");
  if (typeof asked !== "object") return invalid(`of type ${typeof asked}`);
  const prototype: unknown = Object.getPrototypeOf(asked);
  if (prototype !== Object.prototype && prototype !== null) return invalid("no plain object");
  const names = Object.keys(asked);
  if (names.length > labelsMax) return invalid(`an object of ${names.length} names`);
  const pairs: [name: string, text: string][] = [];
  for (const name of names) {
    if (!labelNamePattern.test(name)) return invalid(`an object with the name ${quoted(name)}`);
    const text: unknown = Reflect.get(asked, name);
    if (typeof text !== "string") return invalid(`an object whose "${name}" is of type ${typeof text}`);
    if (!labelValuePattern.test(text)) return invalid(`an object whose "${name}" is ${faultOf(text)}`);
    pairs.push([name, text]);
  }
  // Makes properties of its own, also of the name `__proto__`.
  return { isValid: true, labels: pairs.length === 0 ? null : Object.freeze(Object.fromEntries(pairs)) };
}

function faultOf(text: string): string {
  return text.length > labelValueCharsMax ? `${text.length} characters long` : "not printable ASCII";
}

const invalid = (value: string): AskedLabels => ({ isValid: false, value });
