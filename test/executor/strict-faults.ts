/** What an API would refuse in a schema of its strict mode, by the list of keywords that the API documents. */

interface StrictRules {
  readonly keywords: readonly string[];
  readonly textFormats: readonly string[];
  readonly isAllRequired: boolean;
}

const structure = ["type", "enum", "anyOf", "description", "properties", "required", "additionalProperties", "items"];
const textFormats = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

const bounds = "maximum exclusiveMaximum minimum exclusiveMinimum minItems maxItems".split(" ");

export const strictRules = {
  /**
   * OpenAI, "Structured model outputs", "Supported schemas": of strings `pattern` and `format`; of numbers `multipleOf`,
   * `maximum`, `exclusiveMaximum`, `minimum`, `exclusiveMinimum`; of arrays `minItems`, `maxItems`. All fields must be
   * required, `additionalProperties` must be false, the root must be an object and not `anyOf`, at most 10 levels.
   */
  openai: {
    keywords: [...structure, "pattern", "format", "multipleOf", ...bounds],
    textFormats,
    isAllRequired: true,
  },
  /**
   * Anthropic, "Structured outputs", "JSON Schema limitations": not supported are numerical constraints, string
   * constraints, array constraints beyond `minItems` of 0 or 1, recursion, and `additionalProperties` other than false.
   * Of patterns, it supports simple ones.
   */
  anthropic: { keywords: [...structure, "format"], textFormats: [...textFormats, "uri"], isAllRequired: false },
} as const satisfies Record<string, StrictRules>;

type Schema = Readonly<Record<string, unknown>>;

/** Returns one line for each fault. */
export function strictFaults(schema: Schema, api: keyof typeof strictRules): string[] {
  const rules = strictRules[api];
  const root = schema["type"] === "object" && !("anyOf" in schema) ? [] : ["(root): is no object"];
  return [...root, ...faultsAt(schema, rules, ["(root)"])];
}

function faultsAt(schema: Schema, rules: StrictRules, path: readonly string[]): string[] {
  const { type, properties, required, additionalProperties, items, anyOf, format } = schema;
  const types = [type ?? []].flat();
  const fields = Object.entries((properties ?? {}) as Record<string, Schema>);
  const names = fields.map(([name]) => name);
  const needed = (required ?? []) as string[];
  const isObject = types.includes("object");
  const faults: readonly (readonly [isFault: boolean, what: string])[] = [
    ...Object.keys(schema).map((key) => [!rules.keywords.includes(key), `has ${key}`] as const),
    [types.length === 0 && !Array.isArray(anyOf), "has neither type nor anyOf"],
    [format !== undefined && !rules.textFormats.includes(format as string), "has an unknown format"],
    [isObject && additionalProperties !== false, "takes other fields"],
    [isObject && properties === undefined, "says no fields"],
    [needed.some((name) => !names.includes(name)), "requires an unknown field"],
    [isObject && rules.isAllRequired && names.some((name) => !needed.includes(name)), "has an optional field"],
    [types.includes("array") && items === undefined, "does not say the items of a list"],
    [path.length > 10, "is nested too deep"],
  ];
  const below: readonly (readonly [string, Schema])[] = [
    ...fields,
    ...(items === undefined ? [] : [["[]", items as Schema] as const]),
    ...((anyOf ?? []) as Schema[]).map((each, at) => [`anyOf ${at}`, each] as const),
  ];
  return [
    ...faults.flatMap(([isFault, what]) => (isFault ? [`${path.join(".")}: ${what}`] : [])),
    ...below.flatMap(([name, each]) => faultsAt(each, rules, [...path, name])),
  ];
}
