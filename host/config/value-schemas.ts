/** Forms of what is configured. The texts say what is allowed, as messages show it. */
import { configLimits } from "../../shared/limits.ts";
import { hasLoneSurrogate, hasNul } from "../../shared/text.ts";
import * as z from "../../shared/zod.ts";

const { fileNameCharsMax, listedMax, textCharsMax } = configLimits;

/** A longer timer fires at once. */
const timerMsMax = 2_147_483_647;

export const fileName = (): z.ZodMiniType<string> => nameLike("the name of a file");

export const folderName = (): z.ZodMiniType<string> => nameLike("the name of a folder");

export const timeMs = (): z.ZodMiniType<number> => wholeNumber(1, timerMsMax);

export function plainText(): z.ZodMiniType<string> {
  const allowed = `1 to ${textCharsMax} characters without control characters`;
  return boundedText(textCharsMax, (text) => !/[\p{Cc}\p{Cs}]/u.test(text), allowed);
}

export function wholeNumber(min: number, max: number): z.ZodMiniType<number> {
  const allowed = `a whole number from ${min} to ${max}`;
  return z.int(allowed).check(z.minimum(min, allowed), z.maximum(max, allowed));
}

export function textLike(form: RegExp, allowed: string): z.ZodMiniType<string> {
  return z.string(allowed).check(z.regex(form, allowed));
}

/** A text of a form that no regular expression tells alone. */
export function textThat(fits: (text: string) => boolean, allowed: string): z.ZodMiniType<string> {
  return z.string(allowed).check(z.refine(fits, allowed));
}

export function listOf<Each>(each: z.ZodMiniType<Each>, allowed: string): z.ZodMiniType<Each[]> {
  return z.array(each, allowed).check(z.maxLength(listedMax, `${allowed}, at most ${listedMax}`));
}

/** A list that would say nothing if it were empty. */
export function someOf<Each>(each: z.ZodMiniType<Each>, allowed: string): z.ZodMiniType<Each[]> {
  return listOf(each, allowed).check(z.minLength(1, `${allowed}, at least one`));
}

/** Systems cut what is behind a NUL; half of a surrogate pair would become the name of another file. */
function nameLike(allowed: string): z.ZodMiniType<string> {
  return boundedText(fileNameCharsMax, (text) => !hasNul(text) && !hasLoneSurrogate(text), allowed);
}

/** The length is no part of a regular expression: one that counts to thousands is slow to make. */
function boundedText(charsMax: number, fits: (text: string) => boolean, allowed: string): z.ZodMiniType<string> {
  return textThat(fits, allowed).check(z.minLength(1, allowed), z.maxLength(charsMax, allowed));
}
