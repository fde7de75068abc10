/** Input and output of `ReadUserMemory`. */
import * as z from "../../../shared/zod.ts";
import { nameField, typeField } from "./fields.ts";

export const readInput = z.strictObject({ name: nameField }, { error: "no other field than name" });

export type ReadUserMemoryInput = z.infer<typeof readInput>;

export const readOutput = z.strictObject({
  name: z.described(z.string(), "The entry's name"),
  description: z.described(z.string(), "Its summary, as its file has it, or else from its text"),
  type: typeField,
  created: z.described(
    z.nullable(z.string()),
    "When it was first written, UTC, ISO 8601; null in a file that a person wrote without it",
  ),
  updated: z.described(z.nullable(z.string()), "When it was last written, in the same form"),
  body: z.described(z.string(), "Its full text as it was written; a character that no person can see is its escape"),
});

export type ReadUserMemoryOutput = z.infer<typeof readOutput>;
