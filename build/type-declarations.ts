/**
 * Makes TypeScript types of the inputs and outputs of a family's tools, for programs that call them, from the JSON
 * Schemas in the manifest. It supports the parts of JSON Schema that these use; anything else becomes `unknown`.
 */
import type { Manifest } from "../shared/manifest.ts";

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

/** Returns a module of types, such as `UpdateUserMemoryInput` and `UpdateUserMemoryOutput` for `UpdateUserMemory`. */
export function typeDeclarations({ name, tools }: Pick<Manifest, "name" | "tools">): string {
  const told = tools.filter(({ audience }) => audience === "model");
  const types = told.flatMap((tool) => {
    // Tools whose names differ only by underscores or case keep their own names.
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
  // A required field without a schema of its own has the type of additional properties.
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
