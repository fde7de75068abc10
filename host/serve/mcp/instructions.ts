import type { Runtime } from "../../runtime/api.ts";
import { indexUri } from "./memory-uri.ts";
import { promptName } from "./prompts.ts";

/** The instructions of a server: the plugins' own words, then where MCP has what is remembered. Can be empty. */
export function instructionsFor(runtime: Pick<Runtime, "families" | "instructions">): string {
  return [runtime.instructions(), whereToLook(runtime)].filter((text) => text !== "").join("\n");
}

function whereToLook(runtime: Pick<Runtime, "families">): string {
  const families = runtime.families();
  if (families.some(({ hasIndex }) => hasIndex))
    return `Before you answer or write, read the resource ${indexUri} (or the prompt ${promptName}): it lists what is remembered.`;
  return families.some(({ hasEntries, canRead }) => hasEntries && canRead)
    ? "The list of resources has what is remembered."
    : "";
}
