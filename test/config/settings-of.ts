/** The settings in effect, as `memcell config --json` prints them, and the mistakes that it finds. */
import { expect } from "vitest";

import { memcell } from "../stage/command.ts";

export interface PrintedSetting {
  readonly setting: string;
  readonly value: unknown;
  readonly from: { readonly kind: string; readonly name?: string };
  readonly flag: string;
  readonly variable: string;
  readonly default: unknown;
}

export interface PrintedSettings {
  /** The config file that was read. */
  readonly file: string | null;
  readonly settings: readonly PrintedSetting[];
  readonly values: Readonly<Record<string, unknown>>;
}

/** `environment` is the whole environment. */
export async function settingsOf(
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<PrintedSettings> {
  const { status, stdout, stderr } = await memcell(["config", "--json", ...args], { env: environment });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const { file, settings } = JSON.parse(stdout) as PrintedSettings;
  return { file, settings, values: Object.fromEntries(settings.map(({ setting, value }) => [setting, value])) };
}

/** The sentence about what is wrong. */
export async function mistakeOf(args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<string> {
  const { status, stdout, stderr } = await memcell(["config", ...args], { env: environment });
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  const [, sentence] = /^memcell config: (.*)\nTry "memcell config --help"\n$/.exec(stderr) ?? [];
  if (sentence === undefined) throw new Error(`That is no mistake: ${stderr}`);
  return sentence;
}

/** The text of a config file with one setting. */
export const fileWith = (setting: string, value: unknown): string =>
  JSON.stringify(setting.split(".").reduceRight<unknown>((inner, name) => ({ [name]: inner }), value));
