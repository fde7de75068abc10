/** Parses a command's arguments and makes its help text. */
import { quoted } from "../../shared/text.ts";
import type { SettingFlags } from "../config/read-settings.ts";
import { isListed } from "../config/setting.ts";
import type { SettingForm } from "../config/setting.ts";
import { flagName, flagOf, settingAt, variableOf } from "../config/settings.ts";
import type { SettingPath } from "../config/settings.ts";
import { UsageError } from "../config/usage-error.ts";
import type { Field } from "../owner/field.ts";
import type { Command, CommandLine } from "./command.ts";
import { CommanderError, Option, Parser } from "./commander.ts";
import type { Terminal } from "./terminal.ts";

/**
 * Parses the arguments after a command's name, or returns the command's help if they request it. Throws `UsageError`
 * for unknown options and arguments, for missing ones, and for values that are empty, unfit or given twice.
 */
export function readCommandLine(
  command: Command,
  args: readonly string[],
  terminal: Terminal,
): CommandLine | { readonly help: string } {
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
  return { input: inputIn(command, parser), settings, terminal };
}

/** The settings that flags have given so far. */
interface Said extends SettingFlags {
  file?: string;
  readonly given: Map<SettingPath, string | boolean | readonly string[]>;
}

function parserOf(command: Command, settings: Said): Parser {
  const { name, description, fields, operands = [] } = command;
  const parser = new Parser(`memcell ${name}`).exitOverride().allowExcessArguments();
  parser.description(description.replaceAll(/(?<!\n)\n(?!\n)/g, " ").trim());
  for (const operand of operands) {
    const { placeholder, meaning, isRequired, isList } = fieldOf(command, operand);
    const shown = `${placeholder}${isList ? "..." : ""}`;
    parser.argument(isRequired ? `<${shown}>` : `[${shown}]`, meaning);
  }
  const others = Object.entries(fields).filter(([key, { read }]) => read !== null && !operands.includes(key));
  for (const [key, field] of others.toSorted(([, a], [, b]) => Number(b.isRequired) - Number(a.isRequired))) {
    parser.addOption(optionOf(key, field));
  }
  if (command.settings) addSettings(parser, command, settings);
  const [zero, one] = command.exitCodes ?? ["done", "failed"];
  const exits = [`0 ${zero}`, `1 ${one}`, "2 the command line or a setting is invalid"];
  const more = command.settingsShown ? otherSettings : "";
  return parser.addHelpText("after", `${more}\n${list("Examples", command.examples)}\n${list("Exit codes", exits)}`);
}

const otherSettings = '\nThe other settings of "memcell call --help" are flags here, too.\n';

const fieldOf = ({ fields }: Command, name: string): Field => {
  const field = fields[name];
  if (field === undefined) throw new RangeError(`There is no field ${name}`);
  return field;
};

const flagIn = (key: string, { flag }: Field): string => flag ?? flagName(key);

function optionOf(key: string, field: Field): Option {
  const { placeholder, meaning, isRequired, isList } = field;
  const flag = flagIn(key, field);
  if (placeholder === null) return new Option(`--${flag}`, meaning);
  const told = isRequired ? `${meaning} (required)` : isList ? `${meaning}; may be repeated` : meaning;
  const option = new Option(`--${flag} <${placeholder}>`, told).makeOptionMandatory(isRequired);
  const readOne = (typed: string, previous: unknown): unknown => {
    if (isList) return [...((previous as readonly unknown[] | undefined) ?? []), valueOf(`--${flag}`, field, typed)];
    refuseTwice(flag, previous);
    return valueOf(`--${flag}`, field, typed);
  };
  return option.argParser(readOne);
}

/** The value of what a person has typed. */
function valueOf(name: string, { read, expected }: Field, typed: string): unknown {
  if (typed === "") throw new UsageError(`${name} is empty`);
  const value = read?.(typed);
  if (value !== undefined) return value;
  throw new UsageError(`${name} is ${quoted(typed)}; expected ${expected}`);
}

function inputIn(command: Command, parser: Parser): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  const options = parser.opts<Record<string, unknown>>();
  for (const [key, field] of Object.entries(command.fields)) {
    const value = options[new Option(`--${flagIn(key, field)}`).attributeName()];
    if (value !== undefined) input[key] = value;
  }
  const { operands = [] } = command;
  const [given, isEndless] = [parser.args, operands.length > 0 && fieldOf(command, operands.at(-1) ?? "").isList];
  const surplus = isEndless ? undefined : given[operands.length];
  if (surplus !== undefined) throw new UsageError(`unexpected argument ${quoted(surplus)}`);
  for (const [at, key] of operands.entries()) {
    const field = fieldOf(command, key);
    const values = (field.isList ? given.slice(at) : given.slice(at, at + 1)).map((typed) =>
      valueOf(field.placeholder ?? key, field, typed),
    );
    if (values.length > 0) input[key] = field.isList ? values : values[0];
  }
  return input;
}

function list(title: string, lines: readonly string[]): string {
  return `${title}:\n${lines.map((line) => `  ${line}\n`).join("")}`;
}

/** Otherwise the last value would win unnoticed, even over a `--user` that a script has put first. */
function refuseTwice(flag: string, previous: unknown): void {
  if (previous !== undefined) throw new UsageError(`--${flag} is given twice; expected once`);
}

function addSettings(parser: Parser, { settings = [], settingsShown = settings }: Command, said: Said): void {
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
  for (const path of settings) {
    if (settingAt(path).form === "switch") addSwitch(parser, path, said);
    else addText(parser, path, said);
  }
  const hidden = new Set(settings.filter((path) => !settingsShown.includes(path)).map(flagOf));
  for (const option of parser.options) if (hidden.has(option.name().replace(/^no-/, ""))) option.hideHelp();
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
    throw new UsageError(`${arg} has no value before ${next}; expected ${arg}=VALUE if the value begins with "-"`);
  }
}
