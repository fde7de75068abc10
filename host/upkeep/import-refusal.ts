import { quoted } from "../../shared/text.ts";
import { ToolError } from "../values/tool-error.ts";
import type { RefusedFile } from "./memory-files.ts";

/** How many refused files the message of an error names. */
const namedMax = 3;

/** Throws when anything is refused, with the code of the first. */
export function refuseImport(refused: readonly RefusedFile[]): void {
  const [first] = refused;
  if (first === undefined) return;
  const named = refused.slice(0, namedMax).map(({ path, reason }) => `${quoted(path)}: ${reason}`);
  const rest = refused.length - named.length;
  if (rest > 0) named.push(`and ${rest} more`);
  throw new ToolError(first.code, `Cannot import the memory: ${named.join("; ")}`);
}
