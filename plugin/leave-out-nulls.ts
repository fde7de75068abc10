/**
 * Leaves out what an input has as `null` in place of nothing. A model that must send every field of a tool, as in the
 * strict modes of function-calling APIs, sends `null` for those that it does not use.
 */
import type * as z from "../shared/zod.ts";

/** The part of a schema's issue that says where an input is wrong. `keys` are unknown fields of the object there. */
interface Fault {
  readonly path: readonly PropertyKey[];
  readonly keys?: readonly string[];
}

/**
 * Removes from `input` each optional field, at any depth, that is wrong because it is `null`, and each unknown field of
 * `otherFields` that is `null`. Returns whether there was one. What can be `null` has no fault, so it keeps its meaning;
 * required fields, entries of records and items of lists stay.
 *
 * It starts from the faults of a refused input, so an input without such fields costs nothing more.
 */
export function leaveOutNulls(
  input: unknown,
  faults: readonly Fault[],
  { schema, otherFields }: { readonly schema: z.ZodMiniType; readonly otherFields: readonly string[] },
): boolean {
  let isChanged = false;
  const leaveOut = (holder: unknown, key: PropertyKey): void => {
    if (Reflect.get(Object(holder), key) !== null || Array.isArray(holder)) return;
    isChanged = Reflect.deleteProperty(Object(holder), key);
  };
  for (const { path, keys = [] } of faults) {
    let [holder, value, at]: [unknown, unknown, z.ZodMiniType | undefined] = [null, input, schema];
    for (const key of path) [holder, value, at] = [value, Reflect.get(Object(value), key), at && partOf(at, key)];
    if (at?._zod.optin === "optional") leaveOut(holder, path.at(-1) ?? "");
    for (const key of keys) if (path.length === 0 && otherFields.includes(key)) leaveOut(input, key);
  }
  return isChanged;
}

/** The schema of a field, or of a list's items. */
function partOf(schema: z.ZodMiniType, key: PropertyKey): z.ZodMiniType | undefined {
  const { innerType, shape, element } = schema._zod.def as Definition;
  if (innerType) return partOf(innerType, key);
  return shape && Object.hasOwn(shape, key) ? shape[key] : element;
}

/** Of an optional or nullable schema, of an object, or of a list. */
interface Definition {
  readonly innerType?: z.ZodMiniType;
  readonly shape?: Readonly<Record<PropertyKey, z.ZodMiniType>>;
  readonly element?: z.ZodMiniType;
}
