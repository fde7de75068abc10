/** The forms in which function-calling APIs take tools. */
import { presentValue, quoted } from "../../../shared/text.ts";
import { refuseOthers } from "../../values/known-fields.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { ObjectSchema, ToolDescription } from "../tool-description.ts";
import { plainSchema } from "./plain-schema.ts";
import { anthropicDialect, openaiDialect } from "./strict-dialects.ts";
import type { StrictDialect } from "./strict-dialects.ts";

/** A tool of Anthropic's Messages API. */
export interface AnthropicTool {
  name: string;
  description: string;
  input_schema: ObjectSchema;
}

/** A tool of OpenAI's Chat Completions API, and of the many servers that are compatible with it. */
export interface OpenAiChatTool {
  type: "function";
  function: { name: string; description: string; parameters: ObjectSchema };
}

/** A tool of OpenAI's Responses API, where strict mode is the default. */
export interface OpenAiResponsesTool {
  type: "function";
  name: string;
  description: string;
  parameters: ObjectSchema;
  strict: boolean;
}

/** Whether the API holds the model to the schema: not if the schema cannot be said in the API's strict form. */
interface WithStrict {
  strict: boolean;
}

/** The formats of `runtime.tools({ format })`, and a tool in each. */
export interface ToolFormats {
  anthropic: AnthropicTool;
  "anthropic-strict": AnthropicTool & WithStrict;
  openai: OpenAiChatTool;
  "openai-strict": OpenAiChatTool & { function: WithStrict };
  "openai-responses": OpenAiResponsesTool;
  "openai-responses-strict": OpenAiResponsesTool;
}

export type ToolFormat = keyof ToolFormats;

const formats: { readonly [Format in ToolFormat]: (tool: ToolDescription) => ToolFormats[Format] } = {
  anthropic: ({ name, description, inputSchema }) => ({ name, description, input_schema: plainSchema(inputSchema) }),
  "anthropic-strict": ({ name, description, inputSchema }) => {
    const { schema, strict } = strictOrPlain(inputSchema, anthropicDialect);
    return { name, description, input_schema: schema, strict };
  },
  openai: ({ name, description, inputSchema }) => ({
    type: "function",
    function: { name, description, parameters: plainSchema(inputSchema) },
  }),
  "openai-strict": ({ name, description, inputSchema }) => {
    const { schema: parameters, strict } = strictOrPlain(inputSchema, openaiDialect);
    return { type: "function", function: { name, description, parameters, strict } };
  },
  "openai-responses": ({ name, description, inputSchema }) => ({
    type: "function",
    name,
    description,
    parameters: plainSchema(inputSchema),
    strict: false,
  }),
  "openai-responses-strict": ({ name, description, inputSchema }) => {
    const { schema: parameters, strict } = strictOrPlain(inputSchema, openaiDialect);
    return { type: "function", name, description, parameters, strict };
  },
};

/** What `runtime.tools` returns for its options. Throws `INPUT_INVALID`. Callers without types can pass anything. */
export function toolsIn(
  options: { readonly format?: ToolFormat },
  tools: ToolDescription[],
): ToolDescription[] | ToolFormats[ToolFormat][] {
  const action = "list the tools";
  refuseOthers(action, options, { format: true });
  const { format } = options;
  if (format === undefined) return tools;
  if (typeof format === "string" && Object.hasOwn(formats, format)) return tools.map((tool) => formats[format](tool));
  const allowed = Object.keys(formats)
    .map((name) => quoted(name))
    .join(", ");
  throw new ToolError("INPUT_INVALID", `Cannot ${action}: format is ${presentValue(format)}, allowed: ${allowed}`);
}

function strictOrPlain(input: ObjectSchema, dialect: StrictDialect): { schema: ObjectSchema; strict: boolean } {
  const schema = strictSchema(input, dialect);
  return schema === null ? { schema: plainSchema(input), strict: false } : { schema, strict: true };
}

type Schema = Readonly<Record<string, unknown>>;

/** Keywords that say nothing about values. */
const silent = new Set("$schema $id $comment title deprecated readOnly writeOnly".split(" "));

const structure = new Set(
  "type enum const anyOf oneOf properties required additionalProperties items description".split(" "),
);

/** Keywords that the description can say in place of the schema. */
const tellable = new Set(
  (
    "minLength maxLength pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems " +
    "uniqueItems minProperties maxProperties default examples contentEncoding contentMediaType"
  ).split(" "),
);

/**
 * Returns the schema in the strict form, or `null` if it has none, such as one with an object of any fields. What a
 * model sends by the strict schema, the tool's own schema allows too, except that an optional field can be `null`, and
 * except for bounds that only the description says. Any JSON value becomes a text, number, boolean, null or list.
 */
export function strictSchema(schema: ObjectSchema, dialect: StrictDialect): ObjectSchema | null {
  const strict = strictOf(schema, dialect, 1);
  return strict?.["type"] === "object" ? structuredClone(strict as ObjectSchema) : null;
}

function strictOf(schema: unknown, dialect: StrictDialect, depth: number): Schema | null {
  if (schema === true) return strictOf({}, dialect, depth);
  if (!isSchema(schema) || depth > dialect.depthMax) return null;
  if (!Object.keys(schema).every(isKnown)) return null;
  const form = formOf(schema, dialect, depth);
  if (form === null) return null;
  const bounds = Object.entries(schema).filter((bound) => tellable.has(bound[0]) && !isEndless(bound));
  const isKept = ([key, value]: readonly [string, unknown]): boolean => isEnforced(key, String(value), dialect);
  const told = bounds.filter((bound) => !isKept(bound));
  const description = [
    ...(typeof schema["description"] === "string" ? [schema["description"]] : []),
    ...(form === anyValue ? [anyValueSaid] : []),
    ...(told.length > 0 ? [`{${told.map(([key, value]) => `${key}: ${JSON.stringify(value)}`).join(", ")}}`] : []),
  ].join("\n");
  return { ...form, ...Object.fromEntries(bounds.filter(isKept)), ...(description !== "" && { description }) };
}

function isEnforced(keyword: string, value: string, { bounds, textFormats }: StrictDialect): boolean {
  if (keyword === "format") return textFormats.has(value);
  // Grammars know neither look-around nor references nor word boundaries.
  if (keyword === "pattern" && /\(\?|\\[1-9bBkpP]/.test(value)) return false;
  return bounds.has(keyword);
}

const isKnown = (keyword: string): boolean => silent.has(keyword) || structure.has(keyword) || tellable.has(keyword);

/** The form of values, without their bounds. */
function formOf(schema: Schema, dialect: StrictDialect, depth: number): Schema | null {
  const choices = schema["anyOf"] ?? schema["oneOf"];
  if (choices !== undefined) return choiceOf(schema, choices, (each) => strictOf(each, dialect, depth + 1));
  const values = Object.hasOwn(schema, "const") ? [schema["const"]] : schema["enum"];
  if (values !== undefined) return enumOf(values);
  const types = [schema["type"] ?? []].flat();
  if (types.length === 0)
    return Object.hasOwn(schema, "properties") || Object.hasOwn(schema, "items") ? null : anyValue;
  const fields = types.includes("object") ? fieldsOf(schema, dialect, depth) : {};
  const items = types.includes("array") ? strictOf(schema["items"] ?? true, dialect, depth + 1) : undefined;
  if (fields === null || items === null) return null;
  return { type: schema["type"], ...fields, ...(items && { items }) };
}

/** `oneOf` becomes `anyOf`: the tool itself refuses what fits two of its schemas. */
function choiceOf(schema: Schema, choices: unknown, strictly: (each: unknown) => Schema | null): Schema | null {
  const others = ["anyOf", "oneOf", "enum", "const", "type", "properties", "required", "additionalProperties", "items"];
  const isAlone = others.filter((key) => Object.hasOwn(schema, key)).length === 1;
  if (!Array.isArray(choices) || choices.length === 0 || !isAlone) return null;
  const anyOf = choices.map(strictly);
  return anyOf.includes(null) ? null : { anyOf };
}

function enumOf(values: unknown): Schema | null {
  if (!Array.isArray(values) || values.length === 0 || !values.every(isScalar)) return null;
  const types = [...new Set(values.map((value) => (value === null ? "null" : typeof value)))];
  return { type: types.length === 1 ? types[0] : types, enum: values };
}

const isScalar = (value: unknown): boolean => typeof value !== "object" || value === null;

/** The fields of an object that has some, or none at all. */
function fieldsOf(schema: Schema, dialect: StrictDialect, depth: number): Schema | null {
  const { properties = {}, required = [], additionalProperties: others = true } = schema;
  if (!isSchema(properties) || !Array.isArray(required) || typeof others !== "boolean") return null;
  const names = Object.keys(properties);
  if ((others && names.length === 0) || required.some((name) => !names.includes(String(name)))) return null;
  const fields = names.map((name) => {
    const field = strictOf(properties[name], dialect, depth + 1);
    return [name, field && dialect.isAllRequired && !required.includes(name) ? orNull(field) : field] as const;
  });
  if (fields.some(([, field]) => field === null)) return null;
  return {
    // Creates own properties, even for the name `__proto__`.
    properties: Object.fromEntries(fields),
    required: dialect.isAllRequired ? names : required,
    additionalProperties: false,
  };
}

/** The same schema, with `null` allowed. */
function orNull({ description, ...schema }: Schema): Schema {
  const said = description === undefined ? {} : { description };
  const { type, anyOf } = schema;
  const types = [type].flat();
  const choices = Array.isArray(anyOf) ? (anyOf as readonly Schema[]) : [schema];
  if (types.includes("null") || choices.some((each) => [each["type"]].flat().includes("null")))
    return { ...schema, ...said };
  if (anyOf === undefined && !Object.hasOwn(schema, "enum")) return { ...schema, type: [...types, "null"], ...said };
  return { anyOf: [...choices, { type: "null" }], ...said };
}

const scalar: Schema = { anyOf: ["string", "number", "boolean", "null"].map((type) => ({ type })) };

/** Strict modes have no schema for objects of any fields. */
const anyValue: Schema = { anyOf: [...(scalar["anyOf"] as Schema[]), { type: "array", items: scalar }] };

const anyValueSaid = "In this form: a text, number, boolean, null, or a list of these. Write an object as JSON text.";

/** Not a bound that anyone has set: each integer that JavaScript has exactly is within it. */
const isEndless = ([, value]: readonly [string, unknown]): boolean =>
  typeof value === "number" && Math.abs(value) === Number.MAX_SAFE_INTEGER;

const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
