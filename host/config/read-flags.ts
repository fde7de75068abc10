import { checkValue, valueOfText } from "./check-value.ts";
import type { Given, GivenSettings } from "./check-value.ts";
import { flagOf } from "./settings.ts";
import type { SettingPath } from "./settings.ts";

/** What a command line says of settings, as it stands there. */
export interface SettingFlags {
  /** `--config`. */
  readonly file?: string | undefined;
  readonly given: ReadonlyMap<SettingPath, string | boolean | readonly string[]>;
}

export function readFlags({ given }: SettingFlags): GivenSettings {
  return new Map(
    Array.from(given, ([path, said]): [SettingPath, Given] => {
      const name = `--${said === false ? "no-" : ""}${flagOf(path)}`;
      const value = typeof said === "string" ? valueOfText(path, said) : said;
      return [path, checkValue(path, value, { kind: "flag", name })];
    }),
  );
}
