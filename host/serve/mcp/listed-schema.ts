import type { ObjectSchema } from "../../plugins/tool-description.ts";

/**
 * A tool's input schema as clients get it. It never has `x-mcp-header`, which makes clients repeat an argument in a
 * header: a proxy could use the header, and this server does not compare the two.
 */
export function listedSchema(schema: ObjectSchema): ObjectSchema {
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === "x-mcp-header" ? undefined : value,
  ) as ObjectSchema;
}
