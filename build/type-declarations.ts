/**
 * Makes TypeScript types of the inputs and outputs of a family's tools, for programs that call them, from the JSON
 * Schemas in the manifest. It supports the parts of JSON Schema that these use; anything else becomes `unknown`.
 */
import type { Family, Manifest, ManifestTool } from "../shared/manifest.ts";
import { jsonSchema } from "./json-schema.ts";

/** The parts of a JSON Schema that become a type. */
interface Schema {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
}

type Tool = Pick<ManifestTool, "name" | "audience" | "input" | "output" | "commands">;

/** A family, as far as types follow from it. */
export interface TypedFamily {
  readonly name: string;
  readonly tools: readonly Tool[];
}

/** The family with its tools' exact inputs in place of those for function-calling APIs. */
export function withExactInputs({ name, tools }: Pick<Manifest, "name" | "tools">, family: Family): TypedFamily {
  const exact = new Map(family.tools.flatMap((tool) => (tool.exactInput ? [[tool.name, tool.exactInput]] : [])));
  return {
    name,
    tools: tools.map((tool) => {
      const input = exact.get(tool.name);
      return input ? { ...tool, input: jsonSchema(input, "input") } : tool;
    }),
  };
}

/**
 * Returns a module of types: `UpdateUserMemoryInput` and `UpdateUserMemoryOutput` for `UpdateUserMemory`, and all tools
 * by name, `Tools` those for models and `HostTools` those for programs.
 */
export function typeDeclarations({ name, tools }: TypedFamily): string {
  const named = tools.map((tool) => {
    // Tools whose names differ only by underscores or case keep their own names.
    const isShared = tools.some((other) => other !== tool && typeName(other.name) === typeName(tool.name));
    return { tool, type: isShared ? tool.name : typeName(tool.name) };
  });
  const types = named.flatMap(({ tool, type }) => [
    `/** What \`${tool.name}\` takes. */\nexport type ${type}Input = ${typeOf(tool.input, "input")};\n`,
    `/** What \`${tool.name}\` answers as \`data\`. */\nexport type ${type}Output = ${typeOf(tool.output, "output")};\n`,
  ]);
  const forModels = named.filter(({ tool }) => tool.audience === "model");
  // A program can call a tool with commands, too, to use those that models are not offered.
  const forHosts = named.filter(({ tool }) => tool.audience === "host" || tool.commands !== undefined);
  return [
    `/** Of the plugin "${name}", made by its build. */\n`,
    ...types,
    "/** The tools for models, for `ToolTypes` of memcell. */\n" +
      `export interface Tools {\n${forModels.map(({ tool, type }) => rowOf(tool.name, type)).join("")}}\n`,
    "/** The tools for programs, for `HostToolTypes` of memcell. */\n" +
      `export interface HostTools {\n${forHosts.map(({ tool, type }) => rowOf(`${name}/${tool.name}`, type)).join("")}}\n`,
  ].join("\n");
}

const rowOf = (key: string, type: string): string =>
  `  ${keyOf(key)}: { input: ${type}Input; output: ${type}Output };\n`;

/** `memory_write` to `MemoryWrite`. */
function typeName(tool: string): string {
  return tool.replaceAll(/(?:^|_+)([A-Za-z0-9])/g, (_all, first: string) => first.toUpperCase());
}

/** A program can give an input lists that it does not change, and `undefined` in place of nothing: JSON has neither. */
type Use = "input" | "output";

function typeOf(schema: Schema, use: Use, indent = ""): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return unionOf(schema.enum.map((each) => JSON.stringify(each)));
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return unionOf(choices.map((each) => typeOf(each, use, indent)));
  const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? []);
  return types.length === 0 ? "unknown" : unionOf(types.map((type) => plainType(type, schema, { use, indent })));
}

interface Place {
  readonly use: Use;
  readonly indent: string;
}

function plainType(type: string, schema: Schema, place: Place): string {
  if (type === "integer" || type === "number") return "number";
  if (type === "string" || type === "boolean" || type === "null") return type;
  if (type === "array") return listType(schema, place);
  return type === "object" ? objectType(schema, place) : "unknown";
}

function listType({ items = {} }: Schema, { use, indent }: Place): string {
  return `${use === "input" ? "ReadonlyArray" : "Array"}<${typeOf(items, use, indent)}>`;
}

function objectType({ properties = {}, required = [], additionalProperties }: Schema, { use, indent }: Place): string {
  const within = `${indent}  `;
  // A required field without a schema of its own has the type of additional properties.
  const other = typeof additionalProperties === "object" ? additionalProperties : {};
  const undescribed = required.filter((key) => !Object.hasOwn(properties, key)).map((key) => [key, other] as const);
  const fields = [...Object.entries(properties), ...undescribed].map(([key, field]) => {
    const isRequired = required.includes(key);
    const type = typeOf(field, use, within);
    const orUndefined = !isRequired && use === "input" && type !== "unknown" ? " | undefined" : "";
    return `${comment(field, within)}${within}${keyOf(key)}${isRequired ? "" : "?"}: ${type}${orUndefined};\n`;
  });
  if (fields.length > 0) return `{\n${fields.join("")}${indent}}`;
  if (additionalProperties === false) return "Record<string, never>";
  return `Record<string, ${typeof additionalProperties === "object" ? typeOf(additionalProperties, use, indent) : "unknown"}>`;
}

const keyOf = (key: string): string => (/^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key));

function comment({ description }: Schema, indent: string): string {
  return description === undefined ? "" : `${indent}/** ${description.replaceAll("*/", "* /")} */\n`;
}

const unionOf = (types: readonly string[]): string => [...new Set(types)].join(" | ");
