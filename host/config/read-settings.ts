import { delimiter } from "node:path";

import { nearestName } from "../../shared/nearest-name.ts";
import { quoted } from "../../shared/text.ts";
import { readConfigFile } from "./config-file.ts";
import { fileVariable, findConfigFile } from "./find-config-file.ts";
import { isListed } from "./setting.ts";
import { flagOf, settingAt, settingPaths, variableOf } from "./settings.ts";
import type { SettingPath, SettingValues } from "./settings.ts";
import { checkValue } from "./source.ts";
import type { Given, GivenSettings, Source } from "./source.ts";
import { UsageError } from "./usage-error.ts";

/** All settings with their values and sources. */
export interface Settings {
  readonly values: SettingValues;
  readonly sources: Readonly<Record<SettingPath, Source>>;
  /** The config file that was read. */
  readonly file: string | null;
}

/** The settings on a command line, not checked yet. */
export interface SettingFlags {
  /** `--config`. */
  readonly file?: string | undefined;
  readonly given: ReadonlyMap<SettingPath, string | boolean | readonly string[]>;
  /** The variables, as of the process. */
  readonly environment: NodeJS.ProcessEnv;
}

/**
 * Reads the settings of a command. Flags override environment variables, which override the config file, which
 * overrides the defaults. Overridden values are checked too. Throws `UsageError`.
 *
 * @example
 * const { values } = await readSettings({ given: new Map([["serve.http", true]]), environment: process.env });
 * console.log(values["serve.port"]); // 7391
 */
export async function readSettings(flags: SettingFlags): Promise<Settings> {
  const found = await findConfigFile(flags);
  const config = found && (await readConfigFile(found));
  const given = [readFlags(flags), readEnvironment(flags.environment), config?.given ?? new Map<SettingPath, Given>()];
  const held = settingPaths.map((path): [SettingPath, Given] => [path, heldOf(path, given)]);
  return {
    // Each value has passed the schema that gives it its type.
    values: Object.fromEntries(held.map(([path, { value }]) => [path, value])) as unknown as SettingValues,
    sources: Object.fromEntries(held.map(([path, { source }]) => [path, source])) as Record<SettingPath, Source>,
    file: config?.file ?? null,
  };
}

function heldOf(path: SettingPath, given: readonly GivenSettings[]): Given {
  const held = given.find((each) => each.has(path))?.get(path);
  return held ?? { value: settingAt(path).default, source: { kind: "default" } };
}

function readFlags({ given }: SettingFlags): GivenSettings {
  return new Map(
    Array.from(given, ([path, said]): [SettingPath, Given] => {
      const name = `--${said === false ? "no-" : ""}${flagOf(path)}`;
      const value = typeof said === "string" ? valueOfText(path, said) : said;
      return [path, checkValue(path, value, { kind: "flag", name })];
    }),
  );
}

/**
 * Throws `UsageError` for an unknown name that begins with `MEMCELL_`, in any case. Otherwise a misspelt
 * `MEMCELL_AUDIT_LOG` would silently mean no audit log.
 */
function readEnvironment(environment: NodeJS.ProcessEnv): GivenSettings {
  const given = new Map<SettingPath, Given>();
  const paths = new Map(settingPaths.map((path) => [variableOf(path), path]));
  for (const name of Object.keys(environment).filter((each) => /^MEMCELL_/i.test(each))) {
    const path = paths.get(name);
    if (path !== undefined) {
      const source = { kind: "environment", name } as const;
      given.set(path, checkValue(path, valueOfVariable(path, environment[name] ?? ""), source));
    } else if (name !== fileVariable) {
      const nearest = nearestName(name, [...paths.keys(), fileVariable], name.slice("MEMCELL".length));
      throw new UsageError(`the environment has ${quoted(name)}: unknown setting; did you mean ${nearest}?`);
    }
  }
  return given;
}

function valueOfVariable(path: SettingPath, text: string): unknown {
  const { form } = settingAt(path);
  // File names are separated like the folders in PATH: by a colon, on Windows by a semicolon.
  return isListed(form) ? text.split(form === "texts" ? "," : delimiter) : valueOfText(path, text);
}

/** Converts a text to the config file's type. An invalid number or switch stays a text, which its schema refuses. */
function valueOfText(path: SettingPath, text: string): string | number | boolean {
  const { form } = settingAt(path);
  if (form === "number" && /^(?:0|[1-9]\d{0,15})$/.test(text)) return Number(text);
  if (form === "switch" && (text === "true" || text === "false")) return text === "true";
  return text;
}
