/** The type of a setting and the kinds of values. The `allowed` texts appear in error messages. */
import { configLimits } from "../../shared/limits.ts";
import { scopeName } from "../../shared/path.ts";
import { hasLoneSurrogate, hasNul } from "../../shared/text.ts";
import * as z from "../../shared/zod.ts";

/**
 * How a setting is written. It decides how the text of a variable or a flag is read, and which values are file names:
 * in the config file these are relative to its folder. A `switch` is `true` or `false`; its flag is `--x` or `--no-x`.
 * The flag of a list can be repeated. In a variable, `texts` are separated by commas, `files-or-names` and `mounts`
 * like the folders in `PATH`.
 */
export type SettingForm = "text" | "number" | "switch" | "texts" | "file" | "files-or-names" | "mounts" | "file-or-url";

/** Whether the value is a list. */
export const isListed = (form: SettingForm): boolean => ["texts", "files-or-names", "mounts"].includes(form);

/** Which values a setting can have, and how they are written. */
export interface Kind<Value> {
  readonly form: SettingForm;
  /** Created only when there is a value to check: most commands get no settings. */
  readonly schema: () => z.ZodMiniType<Value>;
}

export interface Setting<Value = string | number | boolean | readonly string[] | null> extends Kind<unknown> {
  /** `null` if there is no default; then `unset` says what happens without a value. */
  readonly default: Value;
  readonly unset?: string;
  /** One line. */
  readonly meaning: string;
  /** Whether a value that is not allowed is not shown: it can have a password in it. */
  readonly isHidden?: boolean;
}

/** @param preset the default */
export function setting<Value>(kind: Kind<Value>, meaning: string, preset: NoInfer<Value>): Setting<Value> {
  return { ...kind, meaning, default: preset };
}

/** A setting that can be without a value. */
export function optionalSetting<Value>(kind: Kind<Value>, meaning: string, unset: string): Setting<Value | null> {
  return { ...kind, meaning, default: null, unset };
}

const { fileNameCharsMax, listedMax, textCharsMax } = configLimits;

export const fileName = boundedText("file", fileNameCharsMax, isName, "the name of a file");

export const folderName = boundedText("file", fileNameCharsMax, isName, "the name of a folder");

export const plainText = boundedText(
  "text",
  textCharsMax,
  (text) => !/[\p{Cc}\p{Cs}]/u.test(text),
  `1 to ${textCharsMax} characters without control characters`,
);

/** Timers with a larger value would fire at once. */
export const timeMs = whole(1, 2_147_483_647);

export const onOrOff: Kind<boolean> = { form: "switch", schema: () => z.boolean("true or false") };

export function whole(min: number, max: number): Kind<number> {
  const allowed = `a whole number from ${min} to ${max}`;
  return { form: "number", schema: () => z.int(allowed).check(z.minimum(min, allowed), z.maximum(max, allowed)) };
}

export function oneOf<const Text extends string>(texts: readonly Text[], allowed: string): Kind<Text> {
  return { form: "text", schema: () => z.enum(texts, allowed) };
}

export function textLike(pattern: RegExp, allowed: string): Kind<string> {
  return { form: "text", schema: () => z.string(allowed).check(z.regex(pattern, allowed)) };
}

/** A text whose form a regular expression alone cannot check. */
export function textThat(fits: (text: string) => boolean, allowed: string, form: SettingForm = "text"): Kind<string> {
  return { form, schema: () => z.string(allowed).check(z.refine(fits, allowed)) };
}

/** The length is checked apart: a regular expression that counts to thousands is slow to compile. */
function boundedText(
  form: SettingForm,
  charsMax: number,
  fits: (text: string) => boolean,
  allowed: string,
): Kind<string> {
  const { schema } = textThat(fits, allowed);
  return { form, schema: () => schema().check(z.minLength(1, allowed), z.maxLength(charsMax, allowed)) };
}

export function listOf<Each>(form: SettingForm, each: Kind<Each>, allowed: string): Kind<readonly Each[]> {
  const tooMany = `${allowed}, at most ${listedMax}`;
  return { form, schema: () => z.array(each.schema(), allowed).check(z.maxLength(listedMax, tooMany)) };
}

/** A list with at least one item. */
export function someOf<Each>(form: SettingForm, each: Kind<Each>, allowed: string): Kind<readonly Each[]> {
  const { schema } = listOf(form, each, allowed);
  return { form, schema: () => schema().check(z.minLength(1, `${allowed}, at least one`)) };
}

/** Operating systems cut a name at a NUL. A lone surrogate would become the name of another file. */
export function isName(text: string): boolean {
  return text.length > 0 && text.length <= fileNameCharsMax && !hasNul(text) && !hasLoneSurrogate(text);
}

/** Parses `notes=../notes` into the scope and its folder. Returns `null` for any other text. */
export function readMount(text: string): { readonly scope: string; readonly dir: string } | null {
  // A folder's name can contain `=`; a scope's name cannot.
  const at = text.indexOf("=");
  const [scope, dir] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)];
  return scopeName.test(scope) && isName(dir) ? { scope, dir } : null;
}
