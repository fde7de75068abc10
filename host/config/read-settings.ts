import type { Given, GivenSettings } from "./check-value.ts";
import { readConfigText } from "./config-text.ts";
import { fileVariable, ourVariables } from "./environment-names.ts";
import type { SettingFlags } from "./read-flags.ts";
import { settingAt, settingPaths } from "./settings.ts";
import type { SettingPath, SettingValues } from "./settings.ts";
import type { Source } from "./source.ts";
import { UsageError } from "./usage-error.ts";

/** All settings: what holds, and who says so. */
export interface Settings {
  readonly values: SettingValues;
  readonly sources: Readonly<Record<SettingPath, Source>>;
  /** The config file that was read. */
  readonly file: string | null;
}

/**
 * What holds for a command: its flags, else the environment, else the config file, else the defaults. All that is said is
 * checked, also what another source overrides. Throws `UsageError`.
 *
 * @example
 * const { operands, flags } = parseOptions(args, { texts: [], settings: settingPaths }, 0);
 * const { values } = await readSettings(flags);
 * console.log(values["serve.port"]); // 7391
 */
export async function readSettings(
  flags: SettingFlags,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<Settings> {
  const config = await readConfigText(namedFile(flags, environment));
  // Most commands are told little, and need not load what understands the rest.
  const given: GivenSettings[] = [];
  if (flags.given.size > 0) given.push((await import("./read-flags.ts")).readFlags(flags));
  if (ourVariables(environment).length > 0) {
    given.push((await import("./read-environment.ts")).readEnvironment(environment));
  }
  if (config !== null) given.push((await import("./config-file.ts")).readConfigFile(config));
  const held = settingPaths.map((path): [SettingPath, Given] => [path, heldOf(path, given)]);
  return {
    // Each value has passed the schema that its type comes from.
    values: Object.fromEntries(held.map(([path, { value }]) => [path, value])) as unknown as SettingValues,
    sources: Object.fromEntries(held.map(([path, { source }]) => [path, source])) as Record<SettingPath, Source>,
    file: config?.file ?? null,
  };
}

function heldOf(path: SettingPath, given: readonly GivenSettings[]): Given {
  for (const each of given) {
    const held = each.get(path);
    if (held) return held;
  }
  return { value: settingAt(path).default, source: { kind: "default" } };
}

function namedFile({ file }: SettingFlags, environment: NodeJS.ProcessEnv): string | undefined {
  const named = file ?? environment[fileVariable];
  if (named === undefined || !/^$|\0/.test(named)) return named;
  throw new UsageError(`${file === undefined ? fileVariable : "--config"} is no name of a file`);
}
