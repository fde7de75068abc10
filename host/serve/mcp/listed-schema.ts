import type { Tool } from "./sdk.ts";

/**
 * A tool's input schema as clients get it. Its type is always `object`: without that, clients refuse the whole list of
 * tools. It never has `x-mcp-header`, which makes clients repeat an argument in a header: a proxy could use the header,
 * and this server does not compare the two.
 */
export function listedSchema(schema: Readonly<Record<string, unknown>>): Tool["inputSchema"] {
  const withoutHeaders = JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === "x-mcp-header" ? undefined : value,
  ) as Record<string, unknown>;
  return { ...withoutHeaders, type: "object" };
}
