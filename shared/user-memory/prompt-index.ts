/** Input and output of `PromptIndex`, which the host calls for `runtime.memoryIndex()`. */
import * as z from "../zod.ts";

export const promptIndexInput = z.strictObject({}, { error: "no fields" });

export const promptIndexOutput = z.strictObject({
  /** The framed index for a system prompt; empty for a user without entries. */
  text: z.string(),
  entriesShown: z.int(),
  entriesHidden: z.int(),
});

export type PromptIndexOutput = z.infer<typeof promptIndexOutput>;
