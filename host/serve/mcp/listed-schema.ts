import type { Tool } from "./sdk.ts";

/**
 * The schema of a tool's input as clients are told of it. It is always that of an object: for one tool that leaves this
 * open, clients refuse the whole list. It never has `x-mcp-header`, which would have clients repeat an argument in a header:
 * a proxy may go by that, and nobody here would compare the two.
 */
export function listedSchema(schema: Readonly<Record<string, unknown>>): Tool["inputSchema"] {
  const withoutHeaders = JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === "x-mcp-header" ? undefined : value,
  ) as Record<string, unknown>;
  return { ...withoutHeaders, type: "object" };
}
