import type { MemoryFamily } from "../../runtime/memory-families.ts";
import { indexUri } from "./memory-uri.ts";
import { promptName } from "./prompts.ts";

/** The instructions of a server that offers a memory, with the names of the loaded tools. */
export function instructionsFor(families: readonly MemoryFamily[]): string {
  const hasIndex = families.some((family) => family.hasIndex);
  const readTools = families.flatMap(({ readTool }) => readTool ?? []);
  const hasEntries = families.some((family) => family.hasEntries && family.canRead);
  const listed = hasEntries ? " The list of resources has what is remembered." : "";
  const look = hasIndex
    ? ` Before you answer or write, read the resource ${indexUri} (or the prompt ${promptName}): it lists what is remembered.`
    : listed;
  const reading = readTools.length > 0 ? ` ${readTools.join(" or ")} gives an entry's full text.` : "";
  return (
    `Persistent memory about the user, kept between conversations.${look}${reading} ` +
    "Keep what will matter later, and update an existing entry rather than adding a second one about the same thing."
  );
}
