/**
 * Makes a schema of the form that every client takes. Clients pass schemas on to APIs that each refuse something else, and
 * with one tool often all tools (`host/serve/README.md` has their rules).
 */
import type { ObjectSchema } from "../tool-description.ts";

type Schema = Readonly<Record<string, unknown>>;

/**
 * Returns the schema without its dialect, with a type for each value, items for each list and properties for each object.
 * An optional field that could be `null` is left out instead. A value of any type becomes a text.
 */
export function plainSchema(schema: ObjectSchema): ObjectSchema {
  return plainOf(JSON.parse(JSON.stringify(schema), withoutNotes)) as ObjectSchema;
}

/** With `x-mcp-header`, clients would repeat an argument in a header, which proxies could use and no server compares. */
const withoutNotes = (key: string, value: unknown): unknown =>
  key === "$schema" || key === "x-mcp-header" ? undefined : value;

function plainOf(given: unknown): Schema {
  const { const: only, ...rest } = isSchema(given) ? given : {};
  const schema: Schema = only === undefined ? rest : { ...rest, enum: [only] };
  const combiner = combiners.find((key) => Array.isArray(schema[key]));
  if (combiner !== undefined) return { ...schema, [combiner]: (schema[combiner] as unknown[]).map(plainOf) };
  if (Object.hasOwn(schema, "$ref")) return schema;
  const { type = typeIn(schema), ...others } = schema;
  if (Array.isArray(type)) return oneOfTypes(type, others);
  const form = { ...others, type };
  if (type === "array") return { ...form, items: plainOf(schema["items"]) };
  return type === "object" ? { ...form, properties: fieldsOf(schema) } : form;
}

const combiners = ["anyOf", "oneOf", "allOf"] as const;

function oneOfTypes(types: readonly unknown[], schema: Schema): Schema {
  if (types.length === 1) return plainOf({ ...schema, type: types[0] });
  const { description, ...form } = schema;
  return { ...(description !== undefined && { description }), anyOf: types.map((type) => plainOf({ ...form, type })) };
}

/** What a schema without a type says of it. */
function typeIn(schema: Schema): string {
  if (Object.hasOwn(schema, "properties")) return "object";
  if (Object.hasOwn(schema, "items")) return "array";
  const [value] = Array.isArray(schema["enum"]) ? (schema["enum"] as readonly unknown[]) : [];
  return typeof value === "number" || typeof value === "boolean" ? typeof value : "string";
}

function fieldsOf({ properties, required }: Schema): Schema {
  const names: readonly unknown[] = Array.isArray(required) ? required : [];
  const fields = Object.entries(isSchema(properties) ? properties : {});
  // Creates own properties, even for the name `__proto__`.
  return Object.fromEntries(
    fields.map(([name, field]) => [
      name,
      plainOf(names.includes(name) || !isSchema(field) ? field : withoutNull(field)),
    ]),
  );
}

/** The tools take an optional field that is `null` as left out, so no model needs to know. */
function withoutNull(schema: Schema): Schema {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf))
    return Array.isArray(rest["type"]) ? { ...rest, type: rest["type"].filter(isNoNull) } : schema;
  const choices = anyOf.filter((choice) => !isSchema(choice) || choice["type"] !== "null");
  return choices.length === 1 ? { ...(choices[0] as Schema), ...rest } : { ...rest, anyOf: choices };
}

const isNoNull = (type: unknown): boolean => type !== "null";

const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
