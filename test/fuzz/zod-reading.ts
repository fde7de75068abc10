/**
 * What an input means by zod's own parser, round by round: each leaves out a field, or opens a text, of which zod has found
 * a fault. It is written apart from the plugins' check, which does all in one pass without zod.
 */
import { heldBy, isUnused, saysNothing } from "../../plugin/kit/meant-value.ts";
import type { Leniency } from "../../plugin/kit/meant-value.ts";
import type { InputIssue } from "../../shared/envelope.ts";
import { presentValue, quoted } from "../../shared/text.ts";
import * as z from "../../shared/zod.ts";

type Schema = z.ZodMiniType;
type Path = readonly PropertyKey[];

interface Issue {
  readonly code: string;
  readonly path: Path;
  readonly message: string;
  readonly keys?: readonly string[];
}

/** Changes `given`. */
export function readByZod(
  schema: Schema,
  given: unknown,
  leniency: Leniency,
): { input: unknown } | { issues: InputIssue[] } {
  const input = leniency.isExact ? given : (given ?? {});
  // Whoever has imported all of zod before has given it English texts for what says nothing itself.
  const parse = (): ReturnType<typeof z.safeParse> => z.safeParse(schema, input, { error: () => "Invalid input" });
  let parsed = parse();
  while (!parsed.success && mend(input, parsed.error.issues, { schema, leniency })) parsed = parse();
  if (parsed.success) return { input: parsed.data };
  // `null` is read as an object without fields; an issue of the whole shows what was given.
  return { issues: (parsed.error.issues as readonly Issue[]).flatMap((issue) => named(issue, given)) };
}

function named({ code, path, message, keys }: Issue, input: unknown): InputIssue[] {
  // Another test of the same process can have loaded the whole of zod, which then adds English words.
  const allowed = message.replace(/^Invalid input: .*/s, "Invalid input");
  if (keys) return keys.flatMap((key) => named({ code, path: [...path, key], message }, input));
  const place = path.slice(0, path.findLastIndex((key) => typeof key === "string") + 1);
  const value = presentValue(valueAt(place, input));
  if (place.length > 0) return [{ field: labelOf(place), value, allowed }];
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  return [{ field: "input", value, allowed: isObject ? allowed : "a JSON object" }];
}

const fieldName = (name: string): string => (/^\w{1,60}$/.test(name) ? name : quoted(name));

const labelOf = (path: Path): string =>
  path
    .map((key, at) => (typeof key === "number" ? `[${key}]` : `${at > 0 ? "." : ""}${fieldName(String(key))}`))
    .join("");

const valueAt = (path: Path, input: unknown): unknown =>
  path.reduce<unknown>((value, key) => Object.getOwnPropertyDescriptor(Object(value), key)?.value, input);

interface Reading {
  readonly schema: Schema;
  readonly leniency: Leniency;
}

function mend(input: unknown, faults: readonly Issue[], { schema, leniency }: Reading): boolean {
  let isChanged = false;
  const mended = new Set<string>();
  for (const { code, path, keys = [] } of faults) {
    // A value with several faults is opened once in a round.
    const place = JSON.stringify(path);
    if (mended.has(place)) continue;
    mended.add(place);
    // A record's field is wrong by its name, whatever its value.
    if (code === "invalid_key") continue;
    let [holder, value, at]: [unknown, unknown, Schema | undefined] = [null, input, schema];
    for (const key of path) [holder, value, at] = [value, Object(value)[key], at && partOf(at, key, value)];
    const last = path.at(-1);
    if (last !== undefined && at) isChanged = mendField({ holder, key: last, value, at }, leniency) || isChanged;
    for (const key of path.length === 0 && !isUnion(schema) ? keys : [])
      if (isUnused(key, Object(input)[key], leniency)) isChanged = Reflect.deleteProperty(Object(input), key);
  }
  return isChanged;
}

/** Of options that nothing tells apart, none is looked into, also if only one is near. */
function isUnion({ _zod }: Schema): boolean {
  const { innerType, options = [], discriminator } = _zod.def as Definition;
  return innerType ? isUnion(innerType) : options.length > 1 && discriminator === undefined;
}

interface Field {
  readonly holder: unknown;
  readonly key: PropertyKey;
  readonly value: unknown;
  readonly at: Schema;
}

function mendField({ holder, key, value, at }: Field, leniency: Leniency): boolean {
  if (at._zod.optin === "optional" && !Array.isArray(holder) && saysNothing(String(key), value, leniency))
    return Reflect.deleteProperty(Object(holder), key);
  if (leniency.isExact) return false;
  if (Array.isArray(value)) return mendItems(value, at, leniency);
  if (typeof value !== "string" || takesText(at)) return false;
  const held = heldBy(value);
  const property = { value: held, writable: true, enumerable: true, configurable: true };
  return held !== value && Reflect.defineProperty(Object(holder), key, property);
}

/** A list can be wrong as a whole because of its items. */
function mendItems(list: readonly unknown[], at: Schema, leniency: Leniency): boolean {
  const item = partOf(at, 0, list);
  if (!item) return false;
  const changed = list.map((value, key) => mendField({ holder: list, key, value, at: item }, leniency));
  return changed.includes(true);
}

function takesText({ _zod }: Schema): boolean {
  const { type, innerType, options = [], entries = {}, values = Object.values(entries) } = _zod.def as Definition;
  if (innerType) return takesText(innerType);
  return type === "string" || options.some(takesText) || values.some((value) => typeof value === "string");
}

/** The schema of a field, of a list's items, of a record's values; also in the option that the value chooses. */
function partOf(schema: Schema, key: PropertyKey, value: unknown): Schema | undefined {
  const { innerType, shape, element, valueType, options, discriminator } = schema._zod.def as Definition;
  if (innerType) return partOf(innerType, key, value);
  if (options && discriminator !== undefined) {
    const chosen = options.find(({ _zod }) => _zod.propValues?.[discriminator]?.has(Object(value)[discriminator]));
    return chosen && partOf(chosen, key, value);
  }
  return shape && Object.hasOwn(shape, key) ? shape[key] : (element ?? valueType);
}

/** The parts of the schemas that are used here. */
interface Definition {
  readonly type: string;
  /** Of an optional or nullable schema. */
  readonly innerType?: Schema;
  readonly shape?: Readonly<Record<PropertyKey, Schema>>;
  readonly element?: Schema;
  readonly valueType?: Schema;
  readonly options?: readonly Schema[];
  readonly discriminator?: string;
  readonly entries?: Readonly<Record<string, unknown>>;
  readonly values?: readonly unknown[];
}
