/**
 * Checks the error codes that a plugin declares. It cannot declare a code of the table, which would give the host's
 * code another meaning and blame, or a code twice.
 */
import { errorCodes } from "./errors.ts";
import { pluginLimits } from "./limits.ts";
import type { Manifest } from "./manifest.ts";

/** Yields clauses about "it", the plugin. */
export function* codeClauses({ errors = [] }: Manifest): Generator<string> {
  const { errorsMax } = pluginLimits;
  if (errors.length > errorsMax)
    yield `its manifest declares ${errors.length} error codes, at most ${errorsMax} allowed`;
  const codes = errors.map(({ code }) => code);
  for (const code of new Set(codes.filter((each, at) => codes.indexOf(each) !== at))) {
    yield `its manifest declares the error code ${code} more than once`;
  }
  for (const code of errorCodes.filter((each) => codes.includes(each))) {
    yield `its manifest declares the error code ${code}, which is one of the table`;
  }
}
