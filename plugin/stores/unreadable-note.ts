/** Names the files of a store that cannot be read, by their paths, with the reason. */
import { counted } from "../../shared/text.ts";
import { oneLine } from "../kit/one-line.ts";
import type { EntryStore } from "./entry-store.ts";
import { pathFor } from "./memory-path.ts";

/** `own`: the id of the caller's own store. */
export const unreadableIn = (store: EntryStore, own: string): string[] =>
  store.unreadable.map(({ key, owner, reason }) => {
    const by = owner === own ? "" : ` (created by ${owner})`;
    return oneLine(`${pathFor(store.id, own, key)}${by}: ${reason}`, lineCharsMax, key);
  });

/** A path, and a reason that can quote what is in the file. */
const lineCharsMax = 600;

/** The last line of a list, or none. */
export function unreadableNote(stores: readonly EntryStore[], own: string): string[] {
  const files = stores.flatMap((store) => unreadableIn(store, own));
  if (files.length === 0) return [];
  const more = files.length > namedMax ? ` and ${files.length - namedMax} more` : "";
  return [`[${counted(files.length, "file")} could not be read: ${files.slice(0, namedMax).join(", ")}${more}]`];
}

const namedMax = 10;
