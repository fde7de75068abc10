/** Parses a command's arguments and makes its help text. */
import { quoted } from "../../shared/text.ts";
import type { SettingFlags } from "../config/read-settings.ts";
import { isListed } from "../config/setting.ts";
import type { SettingForm } from "../config/setting.ts";
import { flagName, flagOf, settingAt, variableOf } from "../config/settings.ts";
import type { SettingPath } from "../config/settings.ts";
import { UsageError } from "../config/usage-error.ts";
import { isUserId, userIdsAllowed } from "../values/ids.ts";
import type { Command, CommandLine } from "./command.ts";
import { CommanderError, Option, Parser } from "./commander.ts";
import type { Terminal } from "./terminal.ts";

/**
 * Parses the arguments after a command's name, or returns the command's help if they request it. Throws `UsageError`
 * for unknown options and arguments, for missing ones, and for texts that are empty or given twice.
 */
export function readCommandLine<Text extends string, Flag extends string, List extends string, Required extends string>(
  command: Command<Text, Flag, List, Required>,
  args: readonly string[],
  terminal: Terminal,
): CommandLine<Text, Flag, List, Required> | { readonly help: string } {
  const settings: Said = { given: new Map(), environment: terminal.env };
  const parser = parserOf(command, settings);
  let help = "";
  parser.configureOutput({ writeOut: (text) => (help += text), writeErr: () => {} });
  refuseForgottenTexts(parser, args);
  try {
    parser.parse(args, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { help };
    throw new UsageError(error.message.replace(/^error: /, "").replaceAll("\n", " "), { cause: error });
  }
  refuseUnfitOperands(parser);
  return {
    operands: parser.args,
    options: parser.opts<CommandLine<Text, Flag, List, Required>["options"]>(),
    settings,
    terminal,
  };
}

/** The settings that flags have given so far. */
interface Said extends SettingFlags {
  file?: string;
  readonly given: Map<SettingPath, string | boolean | readonly string[]>;
}

function parserOf(command: Command, settings: Said): Parser {
  const { name, description, operands = {}, requiredTexts = {}, texts = {}, lists = {}, flags = {} } = command;
  const parser = new Parser(`memcell ${name}`).exitOverride().allowExcessArguments();
  parser.description(description.replaceAll(/(?<!\n)\n(?!\n)/g, " ").trim());
  for (const [operand, meaning] of Object.entries(operands)) parser.argument(operand, meaning);
  for (const [key, [placeholder, meaning]] of Object.entries({ ...requiredTexts, ...texts })) {
    const flag = flagName(key);
    const isRequired = Object.hasOwn(requiredTexts, key);
    const option = new Option(`--${flag} <${placeholder}>`, isRequired ? `${meaning} (required)` : meaning);
    parser.addOption(option.argParser(onlyText(flag)).makeOptionMandatory(isRequired));
  }
  for (const [key, [placeholder, meaning]] of Object.entries(lists)) {
    const flag = flagName(key);
    const more = (text: string, others: readonly string[] = []): string[] => [
      ...others,
      onlyText(flag)(text, undefined),
    ];
    parser.addOption(new Option(`--${flag} <${placeholder}>`, `${meaning}; may be repeated`).argParser(more));
  }
  for (const [key, meaning] of Object.entries(flags)) parser.option(`--${flagName(key)}`, meaning);
  if (command.settings) addSettings(parser, command.settings, settings);
  const exits = [...command.exitCodes, "2 the command line or a setting is invalid"];
  return parser.addHelpText("after", `\n${list("Examples", command.examples)}\n${list("Exit codes", exits)}`);
}

function list(title: string, lines: readonly string[]): string {
  return `${title}:\n${lines.map((line) => `  ${line}\n`).join("")}`;
}

function onlyText(flag: string): (text: string, previous: string | undefined) => string {
  return (text, previous) => {
    refuseTwice(flag, previous);
    if (text === "") throw new UsageError(`--${flag} is empty`);
    if (flag === "user" && !isUserId(text)) {
      throw new UsageError(`--user is ${quoted(text)}, allowed: ${userIdsAllowed}`);
    }
    return text;
  };
}

/** Otherwise the last value would win unnoticed, even over a `--user` that a script has put first. */
function refuseTwice(flag: string, previous: unknown): void {
  if (previous !== undefined) throw new UsageError(`--${flag} is given twice, allowed: once`);
}

function addSettings(parser: Parser, paths: readonly SettingPath[], said: Said): void {
  parser.optionsGroup("Settings, which can also come from environment variables or the config file:");
  const file = new Option(
    "--config <PATH>",
    "the config file, or a folder with memcell.config.json (default: ~/.config/memcell/config.json, if it exists; env: MEMCELL_CONFIG)",
  );
  const setFile = (text: string): void => {
    refuseTwice("config", said.file);
    said.file = text;
  };
  parser.addOption(file.argParser(setFile));
  for (const path of paths) {
    if (settingAt(path).form === "switch") addSwitch(parser, path, said);
    else addText(parser, path, said);
  }
}

function addSwitch(parser: Parser, path: SettingPath, { given }: Said): void {
  const flag = flagOf(path);
  parser.option(`--${flag}`, meaningOf(path)).option(`--no-${flag}`, `sets ${path} to false`);
  for (const value of [true, false]) {
    parser.on(`option:${value ? "" : "no-"}${flag}`, () => {
      if (given.get(path) === !value) throw new UsageError(`--${flag} and --no-${flag} do not go together`);
      given.set(path, value);
    });
  }
}

function addText(parser: Parser, path: SettingPath, { given }: Said): void {
  const [flag, { form }] = [flagOf(path), settingAt(path)];
  const say = (text: string): void => {
    const previous = given.get(path);
    if (!isListed(form)) refuseTwice(flag, previous);
    given.set(path, isListed(form) ? [...((previous as readonly string[] | undefined) ?? []), text] : text);
  };
  parser.addOption(new Option(`--${flag} <${placeholders[form]}>`, meaningOf(path)).argParser(say));
}

const placeholders: Readonly<Record<SettingForm, string>> = {
  text: "TEXT",
  number: "NUMBER",
  switch: "",
  texts: "TEXT",
  file: "PATH",
  "files-or-names": "PATH|NAME",
  mounts: "SCOPE=DIR",
  "file-or-url": "PATH|URL",
};

/** The setting's meaning, its default, and its names in the other sources. */
function meaningOf(path: SettingPath): string {
  const { form, meaning, unset = "none", default: preset } = settingAt(path);
  const shown = Array.isArray(preset) ? preset.join(", ") || "none" : String(preset ?? unset);
  const often = isListed(form) ? "; may be repeated" : "";
  return `${meaning}${often} (default: ${shown}; env: ${variableOf(path)}; file: ${path})`;
}

/** In "--user --json" the user is missing; commander would take "--json" as the user. */
function refuseForgottenTexts(parser: Parser, args: readonly string[]): void {
  const end = args.indexOf("--");
  for (const [at, arg] of args.slice(0, end < 0 ? args.length : end).entries()) {
    const next = args[at + 1] ?? "";
    if (!/^-./.test(next) || !parser.options.some(({ long, required }) => required && long === arg)) continue;
    throw new UsageError(`${arg} has no value before ${next}, allowed: ${arg}=VALUE if the value begins with "-"`);
  }
}

function refuseUnfitOperands({ args, registeredArguments: known }: Parser): void {
  const surplus = known.at(-1)?.variadic ? undefined : args[known.length];
  if (surplus !== undefined) throw new UsageError(`unexpected argument "${surplus}"`);
  const empty = known.find(
    ({ required, variadic }, at) => (variadic ? args.slice(at) : [args[at]]).includes("") && required,
  );
  if (empty !== undefined) throw new UsageError(`${empty.name()} is empty`);
}
