import type { EntryOrigin } from "../../shared/entry-origin.ts";
import type { CatalogTool } from "../plugins/loaded-tools.ts";
import type { MemoryEntry } from "./memory-families.ts";
import type { PromptAnswer } from "./prompt-answer.ts";

/** The entries that a plugin has listed, each with its origins. */
export function listedEntries(
  { family }: CatalogTool,
  { data: { entries }, origins }: PromptAnswer<"entries">,
): MemoryEntry[] {
  const names = new Set(entries.map(({ name }) => name));
  const [ofOne, ofAny] = [new Map<string, EntryOrigin[]>(), [] as EntryOrigin[]];
  for (const origin of origins) {
    if (isOfOne(origin, names)) ofOne.set(origin.name, [...(ofOne.get(origin.name) ?? []), origin]);
    else ofAny.push(origin);
  }
  return entries.map(({ name, description }) => {
    const own = [...(ofOne.get(name) ?? []), ...ofAny];
    return { family, name, description, ...(own.length > 0 && { origins: own }) };
  });
}

/** A file that no entry is named after can have any of them, as in `shown`, also one whose path has `_.` in it. */
const isOfOne = ({ name, path }: EntryOrigin, names: ReadonlySet<string>): boolean =>
  names.has(name) && !path.includes("_.");
