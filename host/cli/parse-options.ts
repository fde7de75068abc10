import { parseArgs } from "node:util";

import { HelpRequest, UsageError } from "./usage-error.ts";

export interface OptionNames<Text extends string, Flag extends string> {
  /** Options that each take a text. */
  readonly texts: readonly Text[];
  /** Options that are there or not. */
  readonly flags?: readonly Flag[];
}

export interface ParsedOptions<Text extends string, Flag extends string> {
  /** Arguments that are no options. */
  readonly operands: readonly string[];
  readonly options: { readonly [Key in Text]?: string } & { readonly [Key in Flag]?: true };
}

/** Throws `UsageError` for unknown options and for surplus operands. */
export function parseOptions<Text extends string, Flag extends string = never>(
  args: readonly string[],
  { texts, flags = [] }: OptionNames<Text, Flag>,
  operandsMax: number,
): ParsedOptions<Text, Flag> {
  const parsed = parseKnown(args, texts, flags);
  if ("help" in parsed.values) throw new HelpRequest();
  // An empty user id is the runtime's to judge: its answer has a code.
  const empty = texts.find((name) => parsed.values[name] === "");
  if (empty !== undefined && empty !== "user") throw new UsageError(`--${empty} is empty`);
  const surplus = parsed.positionals[operandsMax];
  if (surplus !== undefined) throw new UsageError(`unexpected argument "${surplus}"`);
  return { operands: parsed.positionals, options: parsed.values as ParsedOptions<Text, Flag>["options"] };
}

function parseKnown(
  args: readonly string[],
  texts: readonly string[],
  flags: readonly string[],
): { positionals: string[]; values: Record<string, unknown> } {
  const entries = [
    ...texts.map((name) => [name, { type: "string" as const }] as const),
    ...flags.map((name) => [name, { type: "boolean" as const }] as const),
  ];
  const options = { ...Object.fromEntries(entries), help: { type: "boolean" as const, short: "h" } };
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : "unknown option", { cause: error });
  }
}
