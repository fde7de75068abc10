/** Forms of what is configured. The texts say what is allowed, as messages show it. */
import { configLimits } from "../../shared/limits.ts";
import * as z from "../../shared/zod.ts";

const { fileNameCharsMax, listedMax, textCharsMax } = configLimits;

/** A longer timer fires at once. */
const timerMsMax = 2_147_483_647;

/** Systems cut what is behind a NUL; half of a surrogate pair would become the name of another file. */
export const fileName = textLike(new RegExp(`^[^\\0\\p{Cs}]{1,${fileNameCharsMax}}$`, "u"), "the name of a file");

export const folderName = textLike(new RegExp(`^[^\\0\\p{Cs}]{1,${fileNameCharsMax}}$`, "u"), "the name of a folder");

export const plainText = textLike(
  new RegExp(`^[^\\p{Cc}\\p{Cs}]{1,${textCharsMax}}$`, "u"),
  `1 to ${textCharsMax} characters without control characters`,
);

export const timeMs = wholeNumber(1, timerMsMax);

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
