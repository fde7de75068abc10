/**
 * Checks whether every value of one JSON Schema is a value of another, by the names and types of fields. It ignores
 * descriptions and bounds of strings, numbers and lists. A schema with any other keyword never fits.
 */
type Schema = Readonly<Record<string, unknown>>;

/** Compared pairs of schemas. The largest role takes some 30; a plugin's schemas can be of any size. */
const stepsMax = 10_000;

const choosing = ["anyOf", "oneOf"];
const compared = ["type", "properties", "required", "additionalProperties", "items", "enum", "const"];
const shortening =
  "minLength maxLength pattern format minItems maxItems uniqueItems minimum maximum exclusiveMinimum exclusiveMaximum multipleOf";
const describing =
  "$schema $id $comment title description default examples deprecated readOnly writeOnly contentEncoding contentMediaType";
const understood = new Set([...choosing, ...compared, ...shortening.split(" "), ...describing.split(" ")]);

/**
 * Returns the first place where a value of `narrow` is not a value of `wide`, such as `entries[].name` or `(all of
 * it)`, or `null`. If the reason is an unknown keyword, the keyword follows.
 */
export function firstMisfit(narrow: unknown, wide: unknown): string | null {
  return new Comparison().misfit(narrow, wide, "");
}

class Comparison {
  #steps = 0;

  misfit(narrow: unknown, wide: unknown, place: string): string | null {
    const here = place === "" ? "(all of it)" : place;
    if (++this.#steps > stepsMax) return `${here}: more than ${stepsMax} schemas to compare`;
    if (narrow === false || wide === true) return null;
    if (narrow === true) return this.misfit({}, wide, place);
    if (!isSchema(narrow) || !isSchema(wide)) return here;
    const keyword = strangeKeyword(narrow) ?? strangeKeyword(wide) ?? (Object.hasOwn(wide, "oneOf") ? "oneOf" : null);
    if (keyword !== null) return `${here}: ${keyword}`;
    const ofWide = choiceOf(wide);
    const ofNarrow =
      choiceOf(narrow) ?? (ofWide && typesOf(narrow).map((type) => Object.assign({ ...narrow }, { type })));
    if (ofNarrow === null) return this.#misfitOfOne(narrow, wide, place);
    return first(ofNarrow, (each) => {
      if (ofWide === null) return this.misfit(each, wide, place);
      return ofWide.some((other) => this.misfit(each, other, place) === null) ? null : here;
    });
  }

  /** Compares two schemas without `anyOf` and `oneOf`. */
  #misfitOfOne(narrow: Schema, wide: Schema, place: string): string | null {
    const [types, allowed] = [typesOf(narrow), typesOf(wide)];
    const isAllowed = (type: unknown): boolean =>
      allowed.includes(type) || (type === "integer" && allowed.includes("number"));
    if (!types.every(isAllowed) || !areValuesWithin(narrow, wide)) return place === "" ? "(all of it)" : place;
    return (
      (types.includes("array") ? this.misfit(narrow["items"] ?? true, wide["items"] ?? true, `${place}[]`) : null) ??
      (types.includes("object") ? this.#misfitOfObject(narrow, wide, place) : null)
    );
  }

  #misfitOfObject(narrow: Schema, wide: Schema, place: string): string | null {
    const below = (name: string): string => (place === "" ? name : `${place}.${name}`);
    const always = new Set(namesIn(narrow));
    const lacking = namesIn(wide).find((name) => !always.has(name));
    if (lacking !== undefined) return below(lacking);
    const takes = fieldsOf(wide);
    const [hasOthers, takesOthers] = [narrow["additionalProperties"] ?? true, wide["additionalProperties"] ?? true];
    const misfit = first(fieldsOf(narrow), ([name, field]) => {
      return this.misfit(field, takes.get(name) ?? takesOthers, below(name));
    });
    return misfit ?? this.misfit(hasOthers, takesOthers, place);
  }
}

/**
 * The first keyword that is unknown or malformed, or that is next to `anyOf` or `oneOf` and would apply to each of
 * their schemas.
 */
function strangeKeyword(schema: Schema): string | null {
  const keys = Object.keys(schema);
  const choice = keys.find((key) => choosing.includes(key));
  const isBeside = (key: string): boolean =>
    choice !== undefined && key !== choice && (choosing.includes(key) || compared.includes(key));
  const isStrange = (key: string): boolean =>
    !understood.has(key) || isBeside(key) || forms.get(key)?.(schema[key]) === false;
  return keys.find(isStrange) ?? null;
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

const forms: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ["type", (value: unknown) => typeof value === "string" || (isList(value) && value.length > 0)],
  ["properties", isSchema],
  ["required", isList],
  ["enum", isList],
  ...choosing.map((key) => [key, (value: unknown) => isList(value) && value.length > 0] as const),
]);

/** The schemas of `anyOf` or `oneOf`, or `null`. */
function choiceOf(schema: Schema): readonly unknown[] | null {
  return (schema["anyOf"] ?? schema["oneOf"] ?? null) as readonly unknown[] | null;
}

const everyType = ["null", "boolean", "number", "string", "array", "object"];

function typesOf({ type = everyType }: Schema): readonly unknown[] {
  return isList(type) ? [...new Set(type)] : [type];
}

function areValuesWithin(narrow: Schema, wide: Schema): boolean {
  const allowed = valuesOf(wide);
  return allowed === null || (valuesOf(narrow)?.every((value) => allowed.includes(value)) ?? false);
}

function valuesOf(schema: Schema): readonly unknown[] | null {
  if (Object.hasOwn(schema, "const")) return [schema["const"]];
  return (schema["enum"] ?? null) as readonly unknown[] | null;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const namesIn = (schema: Schema): readonly string[] => (schema["required"] ?? []) as readonly string[];

const fieldsOf = (schema: Schema): ReadonlyMap<string, unknown> => new Map(Object.entries(schema["properties"] ?? {}));

function first<Item>(items: Iterable<Item>, misfitOf: (item: Item) => string | null): string | null {
  for (const item of items) {
    const misfit = misfitOf(item);
    if (misfit !== null) return misfit;
  }
  return null;
}
