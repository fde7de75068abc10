import { parseArgs } from "node:util";

import { HelpRequest, UsageError } from "./usage-error.ts";

export interface ParsedOptions<Name extends string> {
  /** Arguments that are no options. */
  readonly operands: readonly string[];
  readonly options: { readonly [Key in Name]?: string };
}

/** Options that each take a text. Throws `UsageError` for unknown ones and for surplus operands. */
export function parseOptions<Name extends string>(
  args: readonly string[],
  names: readonly Name[],
  operandsMax: number,
): ParsedOptions<Name> {
  const parsed = parseKnown(args, names);
  if ("help" in parsed.values) throw new HelpRequest();
  // An empty user id is the runtime's to judge: its answer has a code.
  const empty = names.find((name) => parsed.values[name] === "");
  if (empty !== undefined && empty !== "user") throw new UsageError(`--${empty} is empty`);
  const surplus = parsed.positionals[operandsMax];
  if (surplus !== undefined) throw new UsageError(`unexpected argument "${surplus}"`);
  return { operands: parsed.positionals, options: parsed.values as ParsedOptions<Name>["options"] };
}

function parseKnown(
  args: readonly string[],
  names: readonly string[],
): { positionals: string[]; values: Record<string, unknown> } {
  const texts = Object.fromEntries(names.map((name) => [name, { type: "string" as const }]));
  const options = { ...texts, help: { type: "boolean" as const, short: "h" } };
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : "unknown option", { cause: error });
  }
}
