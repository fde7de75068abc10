/** One thing that can be configured, and the forms of what it may be. The texts say what is allowed, as messages show it. */
import { configLimits } from "../../shared/limits.ts";
import { scopeName } from "../../shared/path.ts";
import { hasLoneSurrogate, hasNul } from "../../shared/text.ts";
import * as z from "../../shared/zod.ts";

/**
 * How a setting is written. It says how the text of a variable or a flag is read, and what names a file: in the config file
 * that is relative to the file. A `switch` is `true` or `false`, as a flag `--x` or `--no-x`. A list is a flag that may be
 * repeated; in a variable `texts` have commas between them, `files-or-names` and `mounts` what separates the folders of `PATH`.
 */
export type SettingForm = "text" | "number" | "switch" | "texts" | "file" | "files-or-names" | "mounts" | "file-or-url";

/** Whether it is a list. */
export const isListed = (form: SettingForm): boolean => ["texts", "files-or-names", "mounts"].includes(form);

export interface Setting<Value = string | number | boolean | readonly string[] | null> {
  readonly form: SettingForm;
  /** Made when something is to be checked: most commands are told nothing. */
  readonly schema: () => z.ZodMiniType;
  /** `null`: there is none, and `unset` says what is done then. */
  readonly default: Value;
  readonly unset?: string;
  /** One line. */
  readonly meaning: string;
}

/** @param preset what holds when nobody says anything */
export function setting<Value>(
  form: SettingForm,
  schema: () => z.ZodMiniType<Value>,
  meaning: string,
  preset: NoInfer<Value>,
): Setting<Value> {
  return { form, schema, meaning, default: preset };
}

/** One that need not have a value. */
export function optionalSetting<Value>(
  form: SettingForm,
  schema: () => z.ZodMiniType<Value>,
  meaning: string,
  unset: string,
): Setting<Value | null> {
  return { form, schema, meaning, default: null, unset };
}

const { fileNameCharsMax, listedMax, textCharsMax } = configLimits;

export const fileName = (): z.ZodMiniType<string> => boundedText(fileNameCharsMax, isName, "the name of a file");

export const folderName = (): z.ZodMiniType<string> => boundedText(fileNameCharsMax, isName, "the name of a folder");

/** A longer timer fires at once. */
export const timeMs = (): z.ZodMiniType<number> => wholeNumber(1, 2_147_483_647);

export const plainText = (): z.ZodMiniType<string> =>
  boundedText(
    textCharsMax,
    (text) => !/[\p{Cc}\p{Cs}]/u.test(text),
    `1 to ${textCharsMax} characters without control characters`,
  );

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

export function listOf<Each>(each: z.ZodMiniType<Each>, allowed: string): z.ZodMiniType<readonly Each[]> {
  return z.array(each, allowed).check(z.maxLength(listedMax, `${allowed}, at most ${listedMax}`));
}

/** A list that would say nothing if it were empty. */
export function someOf<Each>(each: z.ZodMiniType<Each>, allowed: string): z.ZodMiniType<readonly Each[]> {
  return listOf(each, allowed).check(z.minLength(1, `${allowed}, at least one`));
}

/** Systems cut what is behind a NUL; half of a surrogate pair would become the name of another file. */
function isName(text: string): boolean {
  return text.length > 0 && text.length <= fileNameCharsMax && !hasNul(text) && !hasLoneSurrogate(text);
}

/** `notes=../notes`: the scope, and the folder that stands for it. */
interface Mount {
  readonly scope: string;
  readonly dir: string;
}

/** `null` for what is none. A folder's name may hold more of `=`; a scope's holds none. */
export function readMount(text: string): Mount | null {
  const at = text.indexOf("=");
  const [scope, dir] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)];
  return scopeName.test(scope) && isName(dir) ? { scope, dir } : null;
}

/** The length is no part of a regular expression: one that counts to thousands is slow to make. */
function boundedText(charsMax: number, fits: (text: string) => boolean, allowed: string): z.ZodMiniType<string> {
  return textThat(fits, allowed).check(z.minLength(1, allowed), z.maxLength(charsMax, allowed));
}
