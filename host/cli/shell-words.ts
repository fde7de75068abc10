import type { SettingFlags } from "../config/read-settings.ts";
import { flagOf } from "../config/settings.ts";
import { shellWord } from "../owner/told.ts";

/** A command for a person to run, ready for a shell: with these options, and the settings of the present command. */
export function commandLine(
  name: string,
  options: Readonly<Record<string, string>>,
  { file, given }: SettingFlags,
  operand: string,
): string {
  const flags = Object.entries(file === undefined ? options : { ...options, config: file });
  const settings = Array.from(given).flatMap(([path, value]) =>
    typeof value === "boolean"
      ? [`--${value ? "" : "no-"}${flagOf(path)}`]
      : [value].flat().flatMap((each) => flagWords(flagOf(path), each)),
  );
  const words = [
    ...flags.flatMap(([flag, value]) => flagWords(flag, value)),
    ...settings,
    ...(operand.startsWith("-") ? ["--", operand] : [operand]),
  ];
  return `memcell ${name} ${words.map(shellWord).join(" ")}`;
}

const flagWords = (flag: string, value: string): string[] =>
  value.startsWith("-") ? [`--${flag}=${value}`] : [`--${flag}`, value];
