/** Input and output of `PromptIndex`, which a host calls for `runtime.memoryIndex()`. */
import * as z from "../../../shared/zod.ts";

const allowed = "linesMax and bytesMax, whole numbers, or no fields";

/** Not zod's own number, of which nothing else here has need: it would take 16 KB of the plugin. */
const wholeNumber = z
  .unknown()
  .check(
    z.refine(Number.isSafeInteger, { error: allowed }),
    z.meta({ type: "integer" }),
  ) as unknown as z.ZodMiniType<number>;

const boundField = z.optional(wholeNumber);

/** Both lower what is shown of the index and raise nothing. */
export const promptIndexInput = z.strictObject({ linesMax: boundField, bytesMax: boundField }, { error: allowed });

export type PromptIndexInput = z.infer<typeof promptIndexInput>;

export const promptIndexOutput = z.strictObject({
  /** The framed index for a system prompt; empty for a user without entries. */
  text: z.string(),
  entriesShown: z.int(),
  entriesHidden: z.int(),
});

export type PromptIndexOutput = z.infer<typeof promptIndexOutput>;
