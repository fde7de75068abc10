/**
 * Leaves out what an input has as `null` in place of nothing. A model that must send every field of a tool, as in the
 * strict modes of function-calling APIs, sends `null` for those that it does not use.
 */
import type * as z from "../shared/zod.ts";

/** The part of a schema's issue that says where an input is wrong. */
interface Fault {
  readonly code: string;
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
  const paths = faults.flatMap(({ code, path, keys = [] }) =>
    code === "unrecognized_keys" && path.length === 0
      ? keys.filter((key) => otherFields.includes(key)).map((key) => [key])
      : [path].filter(() => isOptional(schema, path)),
  );
  // `map` before `some`: all of them.
  return paths.map((path) => removeNull(input, path)).some(Boolean);
}

/** Whether a path leads to an optional field of an object. */
function isOptional(schema: z.ZodMiniType, path: readonly PropertyKey[]): boolean {
  let at: z.ZodMiniType | undefined = schema;
  for (const key of path) at = at && partOf(at, key);
  return at?._zod.optin === "optional";
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

function removeNull(input: unknown, path: readonly PropertyKey[]): boolean {
  const key = path.at(-1) ?? "";
  const holder = valueAt(input, path.slice(0, -1));
  if (typeof holder !== "object" || holder === null || Array.isArray(holder)) return false;
  return Reflect.get(holder, key) === null && Reflect.deleteProperty(holder, key);
}

/** What a schema's issue is about. */
export const valueAt = (input: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((value, key) => Reflect.get(Object(value), key), input);
