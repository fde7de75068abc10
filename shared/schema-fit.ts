/**
 * Whether every value of one JSON Schema is a value of another, as far as the names and types of fields go. What describes a
 * field, and what makes a text, a number or a list shorter, is not compared. Whatever else a schema says fits nothing.
 */
type Schema = Readonly<Record<string, unknown>>;

/** Pairs of schemas that are compared. The largest role takes some 30; a plugin's schemas may be of any size. */
const stepsMax = 10_000;

const choosing = ["anyOf", "oneOf"];
const compared = ["type", "properties", "required", "additionalProperties", "items", "enum", "const"];
const shortening =
  "minLength maxLength pattern format minItems maxItems uniqueItems minimum maximum exclusiveMinimum exclusiveMaximum multipleOf";
const describing =
  "$schema $id $comment title description default examples deprecated readOnly writeOnly contentEncoding contentMediaType";
const understood = new Set([...choosing, ...compared, ...shortening.split(" "), ...describing.split(" ")]);

/**
 * The first place where a value of `narrow` is none of `wide`: `entries[].name`, or `(all of it)`. Behind it stands the
 * keyword that is not understood, if that is why. `null` when there is none.
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

  /** Of two schemas that are no choice between several. */
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

/** A keyword that is not understood, or not as it stands there. A choice stands alone: what stands beside it would hold for each. */
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

/** `null` for a schema that is no choice between several. */
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
