/** Input and output of `ReadUserMemory`. */
import * as z from "../zod.ts";
import { nameField, typeField } from "./fields.ts";

export const readInput = z.strictObject({ name: nameField }, { error: "no other field than name" });

export type ReadUserMemoryInput = z.infer<typeof readInput>;

const timestamp = z
  .nullable(z.string())
  .check(z.meta({ description: "UTC, ISO 8601; null in a file that a person wrote without it" }));

export const readOutput = z.strictObject({
  name: z.string(),
  description: z.string(),
  type: typeField,
  created: timestamp,
  updated: timestamp,
  body: z.string(),
});

export type ReadUserMemoryOutput = z.infer<typeof readOutput>;
