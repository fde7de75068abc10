/**
 * The fields of the tools' inputs. Each schema's `error` says what is allowed; the guest puts the field's name and
 * value before it.
 */
import { codePoints, exceedsUtf8Bytes, hasLoneSurrogate, hasNul, quoted } from "../../shared/text.ts";
import * as z from "../../shared/zod.ts";
import { hiddenIn, hiddenInBody, seenOnly } from "../kit/hidden-text.ts";
import { wholeNumber } from "../kit/inputs.ts";
import { whyNotSeen } from "../kit/one-line.ts";
import { journalLimits } from "./journal-limits.ts";
import { trim } from "./white-space.ts";

const { keyCharsMax, contentBytesMax, tagsMax, tagCharsMax, queryCharsMax, resultsMax, resultsDefault } = journalLimits;

const keyAllowed = `1 to ${keyCharsMax} characters on one line, not blank`;

/** Refuses only blank keys. `write-entry.ts` checks whether a key is a single line, as late as agentool does. */
const key = z.string({ error: keyAllowed }).check(z.refine((given) => trim(given) !== "", { error: keyAllowed }));

export const keyField = (description: string): z.ZodMiniType<string> =>
  key.check(z.meta({ description, minLength: 1 }));

const contentAllowed = `0 to ${contentBytesMax} UTF-8 bytes, without NUL and without lone surrogates`;

const content = z
  .string({ error: contentAllowed })
  .check(z.refine((text) => isContent(text), { error: seenOnly(contentAllowed) }));

export const contentField = (description: string): z.ZodMiniType<string> =>
  content.check(
    z.meta({ description: `${description}; at most ${contentBytesMax} UTF-8 bytes`, maxLength: contentBytesMax }),
  );

function isContent(text: string): boolean {
  if (text.length > contentBytesMax || exceedsUtf8Bytes(text, contentBytesMax)) return false;
  return !hasNul(text) && !hasLoneSurrogate(text) && hiddenInBody(text) === null;
}

const tagsAllowed =
  `a list of at most ${tagsMax} strings of at most ${tagCharsMax} characters, ` +
  'without "|", "-->", "--!>", line breaks and other control characters';

const tags = z.optional(
  z.nullable(
    z.array(z.string({ error: tagsAllowed }), { error: tagsAllowed }).check(
      z.maxLength(tagsMax, { error: tagsAllowed }),
      z.refine((given) => given.every((tag) => isTag(tag)), {
        error: ({ input }) => `${tagsAllowed}; ${quoted(unfitTag(input))} is not allowed${whyNotSeen(unfitTag(input))}`,
      }),
    ),
  ),
);

export const tagsField = (description: string): z.ZodMiniType<string[] | null | undefined> =>
  tags.check(z.meta({ description }));

/** A tag is written into one line of the file, between bars, inside a comment. */
function isTag(tag: string): boolean {
  if (tag.length > tagCharsMax && codePoints(tag) > tagCharsMax) return false;
  return !/[|\p{Cc}\u2028\u2029]|--!?>/u.test(tag) && !hasLoneSurrogate(tag) && hiddenIn(tag) === null;
}

function unfitTag(given: unknown): string {
  return Array.isArray(given) ? String(given.find((tag) => !isTag(String(tag)))) : "";
}

export const targets = ["daily", "summary"] as const;
export type Target = (typeof targets)[number];

export const targetField = z.optional(z.nullable(z.enum(targets, { error: '"daily" or "summary"' }))).check(
  z.meta({
    description:
      "daily: the log of the present UTC day, YYYY/MM/dd.md; the default. summary: MEMORY.md, for what should be " +
      "found before everything else",
  }),
);

const queryAllowed = `0 to ${queryCharsMax} characters`;

export const queryField = z.string({ error: queryAllowed }).check(
  z.refine((query) => codePoints(query) <= queryCharsMax, { error: queryAllowed }),
  z.meta({
    description: "What to find in keys and contents, without regard to case; empty finds everything that has the tags",
    maxLength: queryCharsMax,
  }),
);

export const limitField = z.optional(z.nullable(wholeNumber("a whole number from 0", 0))).check(
  z.meta({
    description: `How many results at most. Default ${resultsDefault}; 0 counts as 1, over ${resultsMax} as ${resultsMax}`,
  }),
);

export const matches = ["text", "words"] as const;

export const matchField = z.optional(z.nullable(z.enum(matches, { error: '"text" or "words"' }))).check(
  z.meta({
    description:
      "text: blocks that have the query as it is, MEMORY.md first, each newest first; the default. words: blocks that " +
      "have one or more of its words, in any form, the best first",
  }),
);
