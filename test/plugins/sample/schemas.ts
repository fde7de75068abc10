/**
 * The input and output of each tool. A field's `error` says what is allowed; the guest puts the field's name and its
 * present value before it. A model reads the field's description.
 */
import { codePoints, hasLoneSurrogate, hasNul } from "../../../shared/text.ts";
import * as z from "../../../shared/zod.ts";

const nameAllowed = '1 to 64 characters of a-z, 0-9 and "-", a letter first';

export const nameGrammar = /^[a-z][a-z0-9-]{0,63}$/;

const name = z
  .string({ error: nameAllowed })
  .check(
    z.regex(nameGrammar, { error: nameAllowed }),
    z.meta({ description: "What the text is called: small letters, digits and dashes, a letter first" }),
  );

/** A file can have 2 MiB, but a model reads this text whole. */
const textCharsMax = 10_000;

const textAllowed = `0 to ${textCharsMax} characters, without NUL and without lone surrogates`;

const text = z.string({ error: textAllowed }).check(
  z.refine((value) => isText(value), { error: textAllowed }),
  z.meta({ description: "The text, which comes back as it is", maxLength: textCharsMax }),
);

function isText(value: string): boolean {
  if (value.length > textCharsMax && codePoints(value) > textCharsMax) return false;
  return !hasNul(value) && !hasLoneSurrogate(value);
}

export const writeInput = z.strictObject({ name, text }, { error: "no other field than name and text" });

export const writeOutput = z.strictObject({
  name: z.described(z.string(), "What the text is called"),
  characters: z.described(z.int(), "How many characters are kept"),
});

export const readInput = z.strictObject({ name }, { error: "no other field than name" });

export const readOutput = z.strictObject({
  name: z.described(z.string(), "What the text is called"),
  body: z.described(z.string(), "The text, as it was kept"),
});
