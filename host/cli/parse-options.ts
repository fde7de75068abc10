import { parseArgs } from "node:util";

import type { SettingFlags } from "../config/read-flags.ts";
import { isListed } from "../config/setting.ts";
import { flagOf, settingAt } from "../config/settings.ts";
import type { SettingPath } from "../config/settings.ts";
import { HelpRequest, UsageError } from "../config/usage-error.ts";

export interface OptionNames<Text extends string, Flag extends string> {
  /** Options that each take a text. */
  readonly texts: readonly Text[];
  /** Options that are there or not. */
  readonly flags?: readonly Flag[];
  /** Settings whose flags are taken, and `--config` with them. */
  readonly settings?: readonly SettingPath[];
}

export interface ParsedOptions<Text extends string, Flag extends string> {
  /** Arguments that are no options. */
  readonly operands: readonly string[];
  readonly options: { readonly [Key in Text]?: string } & { readonly [Key in Flag]?: true };
  /** For `readSettings`, which judges them. */
  readonly settings: SettingFlags;
}

/** Throws `UsageError` for unknown options, for texts that are there twice and for surplus operands. */
export function parseOptions<Text extends string, Flag extends string = never>(
  args: readonly string[],
  { texts, flags = [], settings = [] }: OptionNames<Text, Flag>,
  operandsMax: number,
): ParsedOptions<Text, Flag> {
  const parsed = parseKnown(args, { texts, flags, settings });
  if ("help" in parsed.values) throw new HelpRequest();
  // An empty user id is the runtime's to judge: its answer has a code.
  const empty = texts.find((name) => parsed.values[name] === "");
  if (empty !== undefined && empty !== "user") throw new UsageError(`--${empty} is empty`);
  const surplus = parsed.positionals[operandsMax];
  if (surplus !== undefined) throw new UsageError(`unexpected argument "${surplus}"`);
  return {
    operands: parsed.positionals,
    options: parsed.values as ParsedOptions<Text, Flag>["options"],
    settings: settingFlags(parsed.values, settings),
  };
}

type Values = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;
type Token = { readonly kind: string; readonly name?: string };
type Option = { type: "string" | "boolean"; multiple?: boolean; short?: string };

function parseKnown(
  args: readonly string[],
  { texts, flags = [], settings = [] }: OptionNames<string, string>,
): { positionals: string[]; values: Values } {
  const options: Record<string, Option> = { help: { type: "boolean", short: "h" } };
  for (const name of texts) options[name] = { type: "string" };
  for (const name of flags) options[name] = { type: "boolean" };
  for (const path of settings) Object.assign(options, optionsOf(path));
  if (settings.length > 0) options["config"] = { type: "string" };
  try {
    const parsed = parseArgs({ args: [...args], options, allowPositionals: true, tokens: true });
    refuseTwice(parsed.tokens, options);
    return parsed;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    // Node's advice comes in several lines.
    const message = error instanceof Error ? error.message.replaceAll("\n", " ") : "unknown option";
    throw new UsageError(message, { cause: error });
  }
}

/** The last would hold. Who adds `--user` to what others have written must not find out. */
function refuseTwice(tokens: readonly Token[], options: Readonly<Record<string, Option>>): void {
  const seen = new Set<string>();
  for (const { kind, name } of tokens) {
    const option = kind === "option" && name !== undefined ? options[name] : undefined;
    if (name === undefined || option?.type !== "string" || option.multiple === true) continue;
    if (seen.has(name)) throw new UsageError(`--${name} is there twice, allowed: once`);
    seen.add(name);
  }
}

function optionsOf(path: SettingPath): Record<string, Option> {
  const [name, { form }] = [flagOf(path), settingAt(path)];
  if (form === "switch") return { [name]: { type: "boolean" }, [`no-${name}`]: { type: "boolean" } };
  return { [name]: { type: "string", multiple: isListed(form) } };
}

function settingFlags(values: Values, settings: readonly SettingPath[]): SettingFlags {
  const given = new Map<SettingPath, string | boolean | readonly string[]>();
  for (const path of settings) {
    const name = flagOf(path);
    const said = values[name];
    const isDenied = values[`no-${name}`] === true;
    if (said !== undefined && isDenied) throw new UsageError(`--${name} and --no-${name} do not go together`);
    if (said !== undefined) given.set(path, said as string | boolean | readonly string[]);
    else if (isDenied) given.set(path, false);
  }
  return { given, file: settings.length > 0 ? (values["config"] as string | undefined) : undefined };
}
