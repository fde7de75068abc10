/**
 * Whether a caller can tell what each of a plugin's own error codes means: none that the table has already, which would
 * let a plugin put its own meaning, blame and all, on the host's words; and none twice.
 */
import { errorCodes } from "./errors.ts";
import { pluginLimits } from "./limits.ts";
import type { Manifest } from "./manifest.ts";

/** Clauses about "it", the plugin. */
export function* codeClauses({ errors = [] }: Manifest): Generator<string> {
  const { errorsMax } = pluginLimits;
  if (errors.length > errorsMax)
    yield `its manifest declares ${errors.length} error codes, at most ${errorsMax} allowed`;
  const codes = errors.map(({ code }) => code);
  for (const code of new Set(codes.filter((each, at) => codes.indexOf(each) !== at))) {
    yield `its manifest declares the error code ${code} more than once`;
  }
  for (const code of errorCodes.filter((each) => codes.includes(each))) {
    yield `its manifest declares the error code ${code}, which is one of ABI version 1`;
  }
}
