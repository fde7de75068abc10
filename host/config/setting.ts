import type { infer as Infer, ZodMiniType } from "../../shared/zod.ts";

/**
 * How a setting is written. It says how the text of a variable or a flag is read, and what names a file: in the config file
 * that is relative to the file. A `switch` is `true` or `false`, as a flag `--x` or `--no-x`. A list is a flag that may be
 * repeated; in a variable `texts` have commas between them, `files-or-names` and `mounts` what separates the folders of `PATH`. A mount
 * is `SCOPE=DIR`.
 */
export type SettingForm = "text" | "number" | "switch" | "texts" | "file" | "files-or-names" | "mounts" | "file-or-url";

/** Whether it is a list. */
export const isListed = (form: SettingForm): boolean =>
  form === "texts" || form === "files-or-names" || form === "mounts";

/** One thing that can be configured. Its name is its path in the config file, such as `serve.port`. */
export interface Setting {
  readonly form: SettingForm;
  /** Its messages say what is allowed. Made when something is to be checked: most commands are told nothing. */
  readonly schema: () => ZodMiniType;
  /** `null`: there is none, and `unset` says what is done then. */
  readonly default: string | number | boolean | readonly string[] | null;
  readonly unset?: string;
  /** One line. */
  readonly meaning: string;
}

export type ValueOf<Each extends Setting> =
  | Infer<ReturnType<Each["schema"]>>
  | (Each["default"] extends null ? null : never);
