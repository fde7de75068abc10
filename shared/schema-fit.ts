/**
 * Whether every value of one JSON Schema is a value of another, as far as the names and types of fields go. What describes a
 * field, and what makes a text, a number or a list shorter, is not compared.
 */
type Schema = Readonly<Record<string, unknown>>;

/**
 * The first place where a value of `narrow` is none of `wide`: `entries[].name`, or `(all of it)`. `null` when there is
 * none. What the two are not made of (`$ref`, `allOf`, conditions) fits nothing.
 */
export function firstMisfit(narrow: unknown, wide: unknown, place = ""): string | null {
  const here = place === "" ? "(all of it)" : place;
  if (!isSchema(narrow) || !isSchema(wide) || isBeyond(narrow) || isBeyond(wide)) return here;
  if (!saysAnything(wide)) return null;
  const [ofNarrow, ofWide] = [alternatives(narrow), alternatives(wide)];
  for (const each of ofNarrow) {
    const misfits = ofWide.map((other) => misfitOfOne(each, other, place));
    if (!misfits.includes(null)) return (ofWide.length === 1 ? misfits[0] : null) ?? here;
  }
  return null;
}

/** Of two schemas that are no choice between several. */
function misfitOfOne(narrow: Schema, wide: Schema, place: string): string | null {
  const here = place === "" ? "(all of it)" : place;
  if (choiceOf(narrow) !== null || choiceOf(wide) !== null) return firstMisfit(narrow, wide, place);
  if (!isTypeWithin(narrow["type"], wide["type"]) || !areValuesWithin(narrow, wide)) return here;
  if (wide["type"] === "array") return firstMisfit(narrow["items"] ?? {}, wide["items"] ?? {}, `${place}[]`);
  return wide["type"] === "object" ? misfitOfObject(narrow, wide, place) : null;
}

function misfitOfObject(narrow: Schema, wide: Schema, place: string): string | null {
  const [has, takes] = [fieldsOf(narrow), fieldsOf(wide)];
  const below = (name: string): string => (place === "" ? name : `${place}.${name}`);
  const always = namesIn(narrow["required"]);
  const lacking = namesIn(wide["required"]).find((name) => !always.includes(name));
  if (lacking !== undefined) return below(lacking);
  const isClosed = wide["additionalProperties"] === false;
  if (isClosed && narrow["additionalProperties"] !== false) return place === "" ? "(all of it)" : place;
  for (const [name, field] of has) {
    if (!takes.has(name) && isClosed) return below(name);
    const misfit = takes.has(name) ? firstMisfit(field, takes.get(name), below(name)) : null;
    if (misfit !== null) return misfit;
  }
  return null;
}

function alternatives(schema: Schema): readonly Schema[] {
  const choice = choiceOf(schema);
  if (choice !== null) return choice;
  const { type, ...rest } = schema;
  return Array.isArray(type) ? type.map((each: unknown) => Object.assign({ type: each }, rest)) : [schema];
}

/** `null` for a schema that is no choice between several. */
function choiceOf(schema: Schema): readonly Schema[] | null {
  const choice = schema["anyOf"] ?? schema["oneOf"];
  return Array.isArray(choice) ? choice.filter(isSchema) : null;
}

function areValuesWithin(narrow: Schema, wide: Schema): boolean {
  const allowed = valuesOf(wide);
  return allowed === null || (valuesOf(narrow)?.every((value) => allowed.includes(value)) ?? false);
}

function valuesOf(schema: Schema): readonly unknown[] | null {
  if (Object.hasOwn(schema, "const")) return [schema["const"]];
  return Array.isArray(schema["enum"]) ? schema["enum"] : null;
}

const isTypeWithin = (narrow: unknown, wide: unknown): boolean =>
  wide === undefined || narrow === wide || (narrow === "integer" && wide === "number");

const hasAny = (schema: Schema, ...keys: readonly string[]): boolean => keys.some((key) => Object.hasOwn(schema, key));

const saysAnything = (schema: Schema): boolean =>
  hasAny(schema, "type", "anyOf", "oneOf", "enum", "const", "properties", "required", "items");

/** A choice stands alone: what stands beside it would hold for each of its schemas. */
const isBeyond = (schema: Schema): boolean =>
  hasAny(
    schema,
    "$ref",
    "$dynamicRef",
    "allOf",
    "not",
    "if",
    "patternProperties",
    "prefixItems",
    "dependentRequired",
  ) ||
  (hasAny(schema, "anyOf", "oneOf") && choiceOf(schema) === null) ||
  (hasAny(schema, "anyOf", "oneOf") && hasAny(schema, "type", "properties", "required", "items", "enum", "const")) ||
  (hasAny(schema, "anyOf") && hasAny(schema, "oneOf"));

const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const namesIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];

const fieldsOf = (schema: Schema): ReadonlyMap<string, unknown> =>
  new Map(isSchema(schema["properties"]) ? Object.entries(schema["properties"]) : []);
