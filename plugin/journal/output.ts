/** The outputs of the tools: agentool's complete success answers. */
import * as z from "../../shared/zod.ts";
import { targets } from "./fields.ts";

const kind = z.described(z.enum(["summary", "daily"]), "summary: it stands in MEMORY.md; daily: in any other file");
const key = z.described(z.string(), "The block's key, without white space around it");
const content = z.described(z.string(), "The block's text");
const tags = z.described(z.array(z.string()), "The block's labels");
const file = z.described(z.string(), "The block's file in the user's memory folder");

/* @__NO_SIDE_EFFECTS__ */
const answerOf = <Data extends z.ZodMiniType>(data: Data) =>
  z.strictObject({
    success: z.described(z.literal(true), "Always true: a failure is an error"),
    data: z.described(data, "The answer itself"),
  });

export const writeOutput = answerOf(
  z.strictObject({
    key,
    target: z.described(z.enum(targets), "Where it was written"),
    path: z.described(z.string(), "The file it was written to, in the user's memory folder"),
  }),
);

export type WriteOutput = z.infer<typeof writeOutput>;

export const updateOutput = answerOf(
  z.strictObject({ key, path: z.described(z.string(), "The file that holds the block, before and now"), kind }),
);

export type UpdateOutput = z.infer<typeof updateOutput>;

const created_at = z.described(z.string(), "When it was first written, RFC 3339; empty when that is not known");
const updated_at = z.described(z.string(), "When it was last written, in the same form; empty for one written by hand");

export const readOutput = answerOf(z.strictObject({ key, content, tags, file, kind, created_at, updated_at }));

export type ReadOutput = z.infer<typeof readOutput>;

/** The same for the tool that the host calls, in the form of the role `read`. */
export const readEntryOutput = z.strictObject({ body: content, tags, file, kind, created_at, updated_at });

export type ReadEntryOutput = z.infer<typeof readEntryOutput>;

const result = z.strictObject({ key, content, tags, file, kind });

export type SearchResult = z.infer<typeof result>;

export const searchOutput = answerOf(
  z.strictObject({ results: z.described(z.array(result), "The blocks that were found, the best first") }),
);

export type SearchOutput = z.infer<typeof searchOutput>;
