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

/** What a setting may be, and how that is written. */
interface Kind<Value> {
  readonly form: SettingForm;
  /** Made when something is to be checked: most commands are told nothing. */
  readonly schema: () => z.ZodMiniType<Value>;
}

export interface Setting<Value = string | number | boolean | readonly string[] | null> extends Kind<unknown> {
  /** `null`: there is none, and `unset` says what is done then. */
  readonly default: Value;
  readonly unset?: string;
  /** One line. */
  readonly meaning: string;
}

/** @param preset what holds when nobody says anything */
export function setting<Value>(kind: Kind<Value>, meaning: string, preset: NoInfer<Value>): Setting<Value> {
  return { ...kind, meaning, default: preset };
}

/** One that need not have a value. */
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

/** A longer timer fires at once. */
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

/** A text of a form that no regular expression tells alone. */
export function textThat(fits: (text: string) => boolean, allowed: string, form: SettingForm = "text"): Kind<string> {
  return { form, schema: () => z.string(allowed).check(z.refine(fits, allowed)) };
}

/** The length is no part of a regular expression: one that counts to thousands is slow to make. */
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

/** A list that would say nothing if it were empty. */
export function someOf<Each>(form: SettingForm, each: Kind<Each>, allowed: string): Kind<readonly Each[]> {
  const { schema } = listOf(form, each, allowed);
  return { form, schema: () => schema().check(z.minLength(1, `${allowed}, at least one`)) };
}

/** Systems cut what is behind a NUL; half of a surrogate pair would become the name of another file. */
export function isName(text: string): boolean {
  return text.length > 0 && text.length <= fileNameCharsMax && !hasNul(text) && !hasLoneSurrogate(text);
}

/** `notes=../notes`: the scope, and the folder that stands for it. `null` for what is none. */
export function readMount(text: string): { readonly scope: string; readonly dir: string } | null {
  // A folder's name may hold more of `=`; a scope's holds none.
  const at = text.indexOf("=");
  const [scope, dir] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)];
  return scopeName.test(scope) && isName(dir) ? { scope, dir } : null;
}
