/**
 * The fields of a memory entry. Each schema's `error` says what is allowed; the guest puts the field's name and value
 * before it.
 */
import { codePoints, exceedsUtf8Bytes, hasLoneSurrogate, hasNul } from "../../../shared/text.ts";
import * as z from "../../../shared/zod.ts";
import { hiddenInBody, seenOnly } from "../../kit/hidden-text.ts";
import { isSeenLine, seenLineOnly } from "../../kit/one-line.ts";
import { timestamp } from "../canonical-form.ts";
import { entryLimits } from "../entry-limits.ts";
import { entryTypes } from "../entry-types.ts";

const { nameCharsMax, descriptionCharsMax, bodyBytesMax } = entryLimits;

const nameAllowed = `1 to ${nameCharsMax} characters of a-z, A-Z, 0-9, "_" and "-", without ".md"`;

/** The entry's name, and its file's name before `.md`. */
export const nameField = z
  .string({ error: nameAllowed })
  .check(
    z.regex(new RegExp(`^[a-zA-Z0-9_-]{1,${nameCharsMax}}$`), { error: nameAllowed }),
    z.meta({ description: "Entry identifier: letters, digits, dash and underscore only; no .md extension" }),
  );

export const typeField = z
  .enum(entryTypes, { error: `one of ${entryTypes.map((type) => `"${type}"`).join(", ")}` })
  .check(
    z.meta({
      description:
        "Category. user: lasting preferences and standing instructions. feedback: corrections the user has given. " +
        "project: project facts (stack, conventions, key files). reference: reference data (URLs, external IDs, " +
        "patterns of credentials, never credentials themselves)",
    }),
  );

const descriptionAllowed =
  `1 to ${descriptionCharsMax} characters on one line, not blank, ` +
  "without control characters, line separators or bidirectional overrides";

/** A line for the index. The index enters a system prompt, so the text must stay one line that people can see. */
export const descriptionField = z.string({ error: descriptionAllowed }).check(
  z.refine((text) => isDescription(text), { error: seenLineOnly(descriptionAllowed) }),
  z.meta({
    description: "One-line summary, shown in the index of the system prompt",
    minLength: 1,
    maxLength: descriptionCharsMax,
  }),
);

function isDescription(text: string): boolean {
  if (text.length > descriptionCharsMax && codePoints(text) > descriptionCharsMax) return false;
  return text.trim() !== "" && isSeenLine(text);
}

const bodyAllowed = `0 to ${bodyBytesMax} UTF-8 bytes, without NUL and without lone surrogates`;

/**
 * The entry's text. `ReadUserMemory` returns it byte for byte, so it must not have what a model would get as another
 * text.
 */
export const bodyField = z.string({ error: bodyAllowed }).check(
  z.refine((text) => isBody(text), { error: seenOnly(bodyAllowed) }),
  z.meta({
    description: `Full text of the entry, in Markdown; at most ${bodyBytesMax} UTF-8 bytes`,
    maxLength: bodyBytesMax,
  }),
);

function isBody(text: string): boolean {
  if (text.length > bodyBytesMax || exceedsUtf8Bytes(text, bodyBytesMax)) return false;
  return !hasNul(text) && !hasLoneSurrogate(text) && hiddenInBody(text) === null;
}

const ifUpdatedAllowed =
  'the updated of an answer of ReadUserMemory or SearchUserMemory, as "2026-01-02T03:04:05.678Z", or no ifUpdated';

/** The version of the entry that its writer has read: see `refuse-stale-write.ts`. */
export const ifUpdatedField = z.string({ error: ifUpdatedAllowed }).check(
  z.regex(timestamp, { error: ifUpdatedAllowed }),
  z.meta({
    description:
      'The value of "updated" that the entry had when you read it. If it has another one now, nothing is changed',
  }),
);
