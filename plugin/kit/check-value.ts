/**
 * Checks a value by the rule that `schema-rule.ts` makes of its schema when the plugin is loaded, which the build does. It
 * does what zod's own parser does, with the same issues, in a quarter of the guest's time, and reads a wrong value as what
 * it can only mean (`meant-value.ts`).
 *
 * A rule has the function of its kind: a plugin keeps only those that its rules have.
 */
import { quoted } from "../../shared/text.ts";
import { heldBy, isUnused, saysNothing } from "./meant-value.ts";
import type { Leniency } from "./meant-value.ts";

/** All rules have the same properties, so that the engine keeps their names once. Every instance has all rules. */
export interface Rule {
  readonly kind: Kind;
  /**
   * Of a plain value, its `typeof`; of an object, `strict` if it has no other fields; of options, the field that tells them
   * apart; otherwise the kind.
   */
  readonly word: string;
  /** The values of a choice; the names of an object's fields; the value of that field for each option. */
  readonly keys: readonly unknown[];
  /** The rules of what is inside: of each field, of a list's items, of a record's names and values, of each option. */
  readonly parts: readonly Rule[];
  readonly allowed: Allowed;
  readonly tests: readonly Test[];
  /** `null` needs no check. */
  readonly isNullable: boolean;
  /** The object around need not have it. */
  readonly mayMiss: boolean;
  /** Whether a text can be right. */
  readonly takesText: boolean;
}

/** What a schema's `error` says: a text, what makes one of the value, or nothing. */
export type Allowed = string | ((issue: { readonly input: unknown }) => unknown) | null;

export interface Test {
  readonly holds: (value: unknown) => unknown;
  readonly allowed: Allowed;
  /** If it is about a length, it is made of everything that has one, whatever its type. */
  readonly ofLength: "least" | "most" | "";
  /** Which others are not made if it does not hold. */
  readonly ends: Ends;
}

export interface Fault {
  /** Where in the value, as messages show it: `.query`, `.range.from`, `.items[2].name`. */
  path: string;
  /** What is there. */
  value: unknown;
  readonly allowed: string;
  /** Which tests of a value with this fault are not made any more. */
  readonly ends: Ends;
}

type Ends = (typeof ends)[keyof typeof ends];

export const ends = { nothing: 0, allButLengths: 1, everything: 2 } as const;

/** Returns the checked value, and adds a fault for each reason why the value is wrong. `null`: reads every value exactly. */
export type Kind = (rule: Rule, value: unknown, faults: Fault[], leniency: Leniency | null) => unknown;

/** More would not help anybody, and the guest has no room for those of a list of 100,000 wrong items. */
const faultsMax = 64;

export const check: Kind = (rule, value, faults, leniency) => {
  if (value === null && rule.isNullable) return value;
  const from = faults.length;
  const checked = rule.kind(rule, value, faults, leniency);
  for (const test of rule.tests) {
    const most = test.ofLength === "" ? ends.nothing : ends.allButLengths;
    if (faults.length > from && faults.slice(from).some((fault) => fault.ends > most)) continue;
    if (!test.holds(checked)) refuse(faults, checked, test);
  }
  return checked;
};

/** A test that does not hold, or the rule of a value of another type. */
interface Why {
  readonly allowed: Allowed;
  readonly ends?: Ends;
}

/** Where a fault is if not in the value as a whole, and what is there. */
interface Inside {
  readonly path: string;
  readonly value: unknown;
}

/** Returns the value. zod has the same text for what says nothing itself. */
function refuse(faults: Fault[], value: unknown, why: Why, inside: Inside = { path: "", value }): unknown {
  const { allowed, ends: ended = ends.allButLengths } = why;
  const said = typeof allowed === "function" ? allowed({ input: value }) : allowed;
  const text = typeof said === "string" ? said : (said as { readonly message?: string } | null | undefined)?.message;
  faults.push({ path: inside.path, value: inside.value, allowed: text ?? "Invalid input", ends: ended });
  return value;
}

export const plain: Kind = (rule, value, faults) => (typeof value === rule.word ? value : refuse(faults, value, rule));

/** JSON can have a number that is too large. */
export const number: Kind = (rule, value, faults) => (Number.isFinite(value) ? value : refuse(faults, value, rule));

export const anything: Kind = (_rule, value) => value;

export const choice: Kind = (rule, value, faults) => (rule.keys.includes(value) ? value : refuse(faults, value, rule));

/** An item that is wrong as a whole makes the list wrong, whose text says what its items are. */
export const list: Kind = (rule, value, faults, leniency) => {
  if (!Array.isArray(value)) return refuse(faults, value, rule);
  const item = rule.parts[0] as Rule;
  const checked: unknown[] = [];
  for (let at = 0; at < value.length && faults.length < faultsMax; at++) {
    const from = faults.length;
    checked.push(check(item, value[at], faults, leniency));
    for (const fault of faults.length > from ? faults.slice(from) : [])
      if (fault.path === "") fault.value = value;
      else fault.path = `[${at}]${fault.path}`;
  }
  return checked.length === value.length ? checked : value;
};

/** With a test of its greatest length: nobody looks at the items of a list that is too long. */
export const shortList: Kind = (rule, value, faults, leniency) => {
  const tooLong = rule.tests.find(({ ofLength, holds }) => ofLength === "most" && !holds(value));
  if (!tooLong || !Array.isArray(value)) return list(rule, value, faults, leniency);
  return refuse(faults, value, { allowed: tooLong.allowed, ends: ends.everything });
};

/** The result has the fields in the schema's order, as zod's has. */
export const fields: Kind = (rule, value, faults, leniency) => {
  if (!isObject(value)) return refuse(faults, value, rule);
  const { keys, parts } = rule;
  const within = leniency?.within ?? leniency;
  const input: Record<string, unknown> = {};
  let known = 0;
  for (let at = 0; at < keys.length; at++) {
    const name = keys[at] as string;
    const part = parts[at] as Rule;
    const isPresent = Object.hasOwn(value, name);
    if (isPresent) known++;
    else if (part.mayMiss) continue;
    const from = faults.length;
    const given = isPresent ? value[name] : undefined;
    let checked = check(part, given, faults, within);
    if (!isPresent && faults.length === from) refuse(faults, given, { allowed: null });
    if (faults.length > from) checked = meant(part, { name, label: name, given, checked, from }, faults, within);
    if (isPresent && checked !== leftOut) input[name] = checked;
  }
  const names = rule.word === "strict" ? Object.keys(value) : [];
  for (const name of names.length > known ? names : [])
    if (!keys.includes(name) && !isUnused(name, value[name], leniency) && faults.length < faultsMax)
      refuse(
        faults,
        value,
        { allowed: rule.allowed, ends: ends.nothing },
        { path: `.${fieldName(name)}`, value: value[name] },
      );
  return input;
};

export const record: Kind = (rule, value, faults, leniency) => {
  if (!isObject(value)) return refuse(faults, value, rule);
  const [nameRule, part] = rule.parts as [Rule, Rule];
  const within = leniency?.within ?? leniency;
  const input: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    // As zod: as a field of the result it would be the result's prototype.
    if (name === "__proto__" || faults.length >= faultsMax) continue;
    const [from, label, given] = [faults.length, fieldName(name), value[name]];
    check(nameRule, name, faults, null);
    if (faults.length > from) {
      faults.length = from;
      refuse(faults, name, rule, { path: `.${label}`, value: given });
      continue;
    }
    let checked = check(part, given, faults, within);
    if (faults.length > from) checked = meant(part, { name, label, given, checked, from }, faults, within);
    if (checked !== leftOut) input[name] = checked;
  }
  return input;
};

/** Of options that nothing tells apart, none is looked into: it could be another one that was meant. */
export const union: Kind = (rule, value, faults) => {
  const [first, ...others] = rule.parts as [Rule, ...Rule[]];
  if (others.length === 0) return check(first, value, faults, null);
  const near: { readonly found: readonly Fault[]; readonly checked: unknown }[] = [];
  for (const part of [first, ...others]) {
    const found: Fault[] = [];
    const checked = check(part, value, found, null);
    if (found.length === 0) return checked;
    if (found.every((fault) => fault.ends === ends.nothing)) near.push({ found, checked });
  }
  const [only, other] = near;
  if (!only || other) return refuse(faults, value, rule);
  faults.push(...only.found);
  // As zod: a test of what is around is made of it.
  return only.checked;
};

export const option: Kind = (rule, value, faults, leniency) => {
  if (!isObject(value)) return refuse(faults, value, rule);
  const { word, keys, parts } = rule;
  const given = Object.hasOwn(value, word) ? value[word] : undefined;
  const part = parts[keys.indexOf(given)];
  if (part) return check(part, value, faults, leniency);
  return refuse(faults, value, rule, { path: `.${word}`, value: given });
};

/** A value that may be left out or `null`, and has tests of its own. */
export const wrapped: Kind = (rule, value, faults, leniency) => check(rule.parts[0] as Rule, value, faults, leniency);

/** In place of a field's value. */
const leftOut = Symbol("left out");

interface WrongField {
  readonly name: string;
  /** As messages show it. */
  readonly label: string;
  readonly given: unknown;
  readonly checked: unknown;
  /** The number of faults before it. */
  readonly from: number;
}

/** Returns what a wrong field can only mean, and drops its faults; otherwise they say where they are. */
function meant(part: Rule, field: WrongField, faults: Fault[], leniency: Leniency | null): unknown {
  const { name, label, from } = field;
  let { given, checked } = field;
  for (let next = opened(part, given, leniency); next !== given; next = opened(part, given, leniency)) {
    given = next;
    faults.length = from;
    checked = check(part, given, faults, leniency);
    if (faults.length === from) return checked;
  }
  if (part.mayMiss && saysNothing(name, given, leniency)) {
    faults.length = from;
    return leftOut;
  }
  for (const fault of faults.slice(from)) fault.path = `.${label}${fault.path}`;
  return checked;
}

/** What a text holds where none is allowed; of a list, what its items hold. The value itself if there is nothing to open. */
function opened({ word, parts, takesText }: Rule, value: unknown, leniency: Leniency | null): unknown {
  if (!leniency || leniency.isExact) return value;
  if (typeof value === "string") return takesText ? value : heldBy(value);
  const inner = parts[0] as Rule;
  if (word === "wrapped") return opened(inner, value, leniency);
  if (word !== "array" || !Array.isArray(value)) return value;
  let items: unknown[] | null = null;
  for (let at = 0; at < value.length; at++) {
    const item = opened(inner, value[at], leniency);
    if (item !== value[at]) (items ??= [...(value as unknown[])])[at] = item;
  }
  return items ?? value;
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The caller chose the name, so it is quoted unless it is a plain word. */
export const fieldName = (name: string): string => (/^\w{1,60}$/.test(name) ? name : quoted(name));
