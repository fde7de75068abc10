import type { RefusedPath } from "../shared/roles.ts";
import { quoted } from "../shared/text.ts";
import { ToolError } from "./tool-error.ts";

/** How many refused files the message names. */
const namedMax = 3;

/**
 * What the mending of an import ends with when files of it cannot be used as they are: then nothing of it is committed. The
 * code is that of the first.
 */
export function importRefused(refused: readonly RefusedPath[]): ToolError {
  const named = refused
    .slice(0, namedMax)
    .map(({ path, reason }) => (path === "" ? reason : `${quoted(path)}: ${reason}`));
  const rest = refused.length > namedMax ? [`and ${refused.length - namedMax} more`] : [];
  return new ToolError(
    refused[0]?.code ?? "INPUT_INVALID",
    `Cannot import the memory: ${[...named, ...rest].join("; ")}`,
  );
}
