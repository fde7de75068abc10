import type { SettingFlags } from "../config/read-settings.ts";
import { flagOf } from "../config/settings.ts";

/** A command for a person to run, ready for a shell: with these options, and the settings of the present command. */
export function commandLine(
  name: string,
  options: Readonly<Record<string, string | undefined>>,
  { file, given }: SettingFlags,
  operand = "",
): string {
  const flags = Object.entries(file === undefined ? options : { ...options, config: file });
  const settings = Array.from(given).flatMap(([path, value]) =>
    typeof value === "boolean"
      ? [`--${value ? "" : "no-"}${flagOf(path)}`]
      : [value].flat().flatMap((each) => flagWords(flagOf(path), each)),
  );
  const words = [
    ...flags.flatMap(([flag, value]) => (value === undefined ? [] : flagWords(flag, value))),
    ...settings,
    ...(operand === "" ? [] : operand.startsWith("-") ? ["--", operand] : [operand]),
  ];
  return ["memcell", name, ...words.map(shellWord)].join(" ");
}

function flagWords(flag: string, value: string): string[] {
  if (value === "") return [`--${flag}`];
  return value.startsWith("-") ? [`--${flag}=${value}`] : [`--${flag}`, value];
}

/** Whatever is in it: others have chosen the names of some files. */
const shellWord = (word: string): string =>
  /^(?!=)[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
