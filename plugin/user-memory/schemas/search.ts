/** Input and output of `SearchUserMemory`. */
import * as z from "../../../shared/zod.ts";
import { entryLimits } from "../entry-limits.ts";
import { typeField } from "./fields.ts";

const { queryCharsMax, cursorCharsMax } = entryLimits;
const queryAllowed = `0 to ${queryCharsMax} characters`;
const cursorAllowed = "the nextCursor of an answer to the same query and type";

export const searchInput = z.strictObject(
  {
    query: z
      .optional(z.string({ error: queryAllowed }).check(z.maxLength(queryCharsMax, { error: queryAllowed })))
      .check(
        z.meta({ description: "Words to look for in names, descriptions and texts. Without it: the newest entries" }),
      ),
    type: z.optional(typeField).check(z.meta({ description: "Only entries of this type" })),
    cursor: z
      .optional(
        z.string({ error: cursorAllowed }).check(
          z.maxLength(cursorCharsMax, { error: cursorAllowed }),
          z.refine((cursor) => cursor !== "", { error: cursorAllowed }),
          z.meta({ minLength: 1 }),
        ),
      )
      .check(z.meta({ description: "The nextCursor of the answer before, for what comes next" })),
  },
  { error: "no other fields than query, type and cursor" },
);

export type SearchUserMemoryInput = z.infer<typeof searchInput>;

const foundEntry = z.strictObject({
  name: z.described(z.string(), "The entry's name, for ReadUserMemory"),
  type: typeField,
  description: z.described(z.string(), "The entry's summary"),
  updated: z.described(
    z.nullable(z.string()),
    "When it was last written, UTC, ISO 8601; null in a file that a person wrote without it",
  ),
  unreadable: z.described(
    z.optional(z.string()),
    "Only if ReadUserMemory cannot read the entry: the reason, with the line where that is known. A person has to mend the file",
  ),
  snippet: z.described(
    z.optional(z.string()),
    "With a query: one line of the text around the words that were found, or its beginning",
  ),
});

export const searchOutput = z.strictObject({
  entries: z.described(z.array(foundEntry), "With a query the best first, otherwise the one updated last"),
  nextCursor: z.described(z.nullable(z.string()), "For the next call, if there is more; null after the last entry"),
});

export type SearchUserMemoryOutput = z.infer<typeof searchOutput>;
export type ShownEntry = SearchUserMemoryOutput["entries"][number];
