import * as z from "../shared/zod.ts";

/** Returns the JSON Schema (draft 2020-12) of a tool's input or output. */
export function jsonSchema(schema: z.ZodMiniType, io: "input" | "output"): Record<string, unknown> {
  const { "~standard": _, ...plain } = z.toJSONSchema(schema, { io, target: "draft-2020-12" });
  return plain;
}
