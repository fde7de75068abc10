/**
 * The types of what a family's tools take and answer, for programs in TypeScript that call them: made from the JSON
 * Schemas that its manifest holds, which the build derives from zod's. Of JSON Schema it knows what those use; anything
 * else becomes `unknown`.
 */
import type { Manifest } from "../shared/manifest.ts";

/** As much of a JSON Schema as becomes a type. */
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

/** A module of types: `UpdateUserMemoryInput` and `UpdateUserMemoryOutput` for the tool `UpdateUserMemory`, and so on. */
export function typeDeclarations({ name, tools }: Pick<Manifest, "name" | "tools">): string {
  const told = tools.filter(({ audience }) => audience === "model");
  const types = told.flatMap((tool) => {
    // Two tools that only underscores or case tell apart keep their own names.
    const isShared = told.some((other) => other !== tool && typeName(other.name) === typeName(tool.name));
    const type = isShared ? tool.name : typeName(tool.name);
    return [
      `/** What \`${tool.name}\` takes. */\nexport type ${type}Input = ${typeOf(tool.input)};\n`,
      `/** What \`${tool.name}\` answers as \`data\`. */\nexport type ${type}Output = ${typeOf(tool.output)};\n`,
    ];
  });
  return [`/** Of the plugin "${name}", made by its build. */\n`, ...types, "export {};\n"].join("\n");
}

/** `memory_write` to `MemoryWrite`. */
function typeName(tool: string): string {
  return tool.replaceAll(/(?:^|_+)([A-Za-z0-9])/g, (_all, first: string) => first.toUpperCase());
}

function typeOf(schema: Schema, indent = ""): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return unionOf(schema.enum.map((each) => JSON.stringify(each)));
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return unionOf(choices.map((each) => typeOf(each, indent)));
  const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? []);
  return types.length === 0 ? "unknown" : unionOf(types.map((type) => plainType(type, schema, indent)));
}

function plainType(type: string, schema: Schema, indent: string): string {
  if (type === "integer" || type === "number") return "number";
  if (type === "string" || type === "boolean" || type === "null") return type;
  if (type === "array") return `Array<${typeOf(schema.items ?? {}, indent)}>`;
  return type === "object" ? objectType(schema, indent) : "unknown";
}

function objectType({ properties = {}, required = [], additionalProperties }: Schema, indent: string): string {
  const within = `${indent}  `;
  // What is required and not described is what any other field may be.
  const other = typeof additionalProperties === "object" ? additionalProperties : {};
  const undescribed = required.filter((key) => !Object.hasOwn(properties, key)).map((key) => [key, other] as const);
  const fields = [...Object.entries(properties), ...undescribed].map(([key, field]) => {
    const mark = required.includes(key) ? "" : "?";
    return `${comment(field, within)}${within}${keyOf(key)}${mark}: ${typeOf(field, within)};\n`;
  });
  if (fields.length > 0) return `{\n${fields.join("")}${indent}}`;
  if (additionalProperties === false) return "Record<string, never>";
  return `Record<string, ${typeof additionalProperties === "object" ? typeOf(additionalProperties, indent) : "unknown"}>`;
}

const keyOf = (key: string): string => (/^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key));

function comment({ description }: Schema, indent: string): string {
  return description === undefined ? "" : `${indent}/** ${description.replaceAll("*/", "* /")} */\n`;
}

const unionOf = (types: readonly string[]): string => [...new Set(types)].join(" | ");
