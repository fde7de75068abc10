/** Finds a field that nobody would read. A misspelt option would otherwise be ignored without a word. */
import { nearestName } from "./nearest-name.ts";
import { quoted } from "./text.ts";

/** The names of all fields of a type. */
export type FieldsOf<Type> = Readonly<Record<keyof Type, true>>;

/** A field that is not known, and the known one that is nearest, quoted. */
export interface UnknownField {
  readonly name: string;
  readonly nearest: string;
}

/**
 * Returns the first field of an object that is not known; `null` if there is none. A
 * field that is `undefined` counts as missing, and those of `Object.prototype` do not count. Otherwise an inherited field
 * counts, because it is read like an own one.
 */
export function unknownField(value: object, known: Readonly<Record<string, true>>): UnknownField | null {
  const isUnknown = (name: string): boolean =>
    !Object.hasOwn(known, name) && (value as Readonly<Record<string, unknown>>)[name] !== undefined;
  for (
    let each: unknown = value;
    isObject(each) && (each === value || !isRoot(each));
    each = Object.getPrototypeOf(each)
  ) {
    const other = Object.keys(each).find(isUnknown);
    if (other !== undefined) return { name: quoted(other), nearest: quoted(nearestName(other, Object.keys(known))) };
  }
  return null;
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/** Also that of another realm. */
const isRoot = (value: object): boolean => Object.hasOwn(value, "hasOwnProperty");
