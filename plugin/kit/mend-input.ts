/** Mends a refused input by the faults that zod has found in it. */
import type * as z from "../../shared/zod.ts";
import { heldBy, isUnused, saysNothing } from "./meant-value.ts";
import type { Leniency } from "./meant-value.ts";

/** The part of a schema's issue that says where an input is wrong. `keys` are unknown fields of the object there. */
interface Fault {
  readonly path: readonly PropertyKey[];
  readonly keys?: readonly string[];
}

/**
 * Changes what can only mean something else, at any depth: leaves out an optional field that says nothing, puts the value
 * of a JSON text where no text is allowed, and leaves out unused fields of other commands. Returns whether there was one.
 * Required fields and items of lists stay; what is allowed has no fault, so it keeps its meaning.
 */
export function mendInput(
  input: unknown,
  faults: readonly Fault[],
  schema: z.ZodMiniType,
  leniency: Leniency,
): boolean {
  let isChanged = false;
  for (const { path, keys = [] } of faults) {
    let [holder, value, at]: [unknown, unknown, z.ZodMiniType | undefined] = [null, input, schema];
    for (const key of path) [holder, value, at] = [value, Reflect.get(Object(value), key), at && partOf(at, key)];
    const last = path.at(-1);
    if (last !== undefined && at) isChanged = mendField({ holder, key: last, value, at }, leniency) || isChanged;
    for (const key of path.length === 0 ? keys : [])
      if (isUnused(key, Reflect.get(Object(input), key), leniency))
        isChanged = Reflect.deleteProperty(Object(input), key);
  }
  return isChanged;
}

interface Field {
  readonly holder: unknown;
  readonly key: PropertyKey;
  readonly value: unknown;
  readonly at: z.ZodMiniType;
}

function mendField({ holder, key, value, at }: Field, leniency: Leniency): boolean {
  if (at._zod.optin === "optional" && !Array.isArray(holder) && saysNothing(key, value, leniency))
    return Reflect.deleteProperty(Object(holder), key);
  if (leniency.isExact) return false;
  if (Array.isArray(value)) return mendItems(value, at, leniency);
  if (typeof value !== "string" || takesText(at)) return false;
  const held = heldBy(value);
  const property = { value: held, writable: true, enumerable: true, configurable: true };
  return held !== value && Reflect.defineProperty(Object(holder), key, property);
}

/** A list can be wrong as a whole because of its items. */
function mendItems(list: readonly unknown[], at: z.ZodMiniType, leniency: Leniency): boolean {
  const item = partOf(at, 0);
  if (!item) return false;
  const changed = list.map((value, key) => mendField({ holder: list, key, value, at: item }, leniency));
  return changed.includes(true);
}

function takesText({ _zod }: z.ZodMiniType): boolean {
  const { type, innerType, options = [], entries = {}, values = Object.values(entries) } = _zod.def as Definition;
  if (innerType) return takesText(innerType);
  return type === "string" || options.some(takesText) || values.some((value) => typeof value === "string");
}

/** The schema of a field, of a list's items, or of a record's values. */
function partOf(schema: z.ZodMiniType, key: PropertyKey): z.ZodMiniType | undefined {
  const { innerType, shape, element, valueType } = schema._zod.def as Definition;
  if (innerType) return partOf(innerType, key);
  return shape && Object.hasOwn(shape, key) ? shape[key] : (element ?? valueType);
}

/** The parts of the schemas that are used here. */
interface Definition {
  readonly type: string;
  /** Of an optional or nullable schema. */
  readonly innerType?: z.ZodMiniType;
  readonly shape?: Readonly<Record<PropertyKey, z.ZodMiniType>>;
  readonly element?: z.ZodMiniType;
  readonly valueType?: z.ZodMiniType;
  readonly options?: readonly z.ZodMiniType[];
  readonly entries?: Readonly<Record<string, unknown>>;
  readonly values?: readonly unknown[];
}
