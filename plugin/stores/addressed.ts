/** What a path of the tool `memory` names: a store that the caller reaches, and a key in it. */
import { ownStoreScope, scopeOfStore } from "../../shared/shared-scope.ts";
import type { AccessLevel } from "../../shared/shared-scope.ts";
import { accessTo } from "../kit/capabilities.ts";
import { ToolError } from "../kit/tool-error.ts";
import { EntryStore } from "./entry-store.ts";
import type { FoundEntry } from "./entry-store.ts";
import { checkKey, parsePath } from "./memory-path.ts";
import type { MemoryPath } from "./memory-path.ts";
import { unreadable } from "./unreadable.ts";

export interface Addressed extends MemoryPath {
  readonly at: EntryStore;
  /** The caller's own store, by whose id others know the caller. */
  readonly self: string;
}

/** Throws `ACCESS_DENIED` unless the caller reaches the store with the level. */
export function addressed(path: string, level: AccessLevel): Addressed {
  const parsed = parsePath(path);
  const own = accessTo(ownStoreScope);
  // The own store's entries have one path only.
  const access = parsed.store === null || parsed.store === own.store ? own : accessTo(scopeOfStore(parsed.store));
  return { ...parsed, self: own.store, at: new EntryStore(access).check(level) };
}

/** As `addressed`, for one entry that is to be made or changed. */
export function addressedEntry(path: string, command: string): Addressed {
  const place = addressed(path, "readwrite");
  if (place.isFolder) throw new ToolError("INPUT_INVALID", `path must include a filename for ${command}`);
  checkKey(place.key);
  return place;
}

/**
 * The caller's own entry at a path. Throws `ENTRY_NOT_FOUND`, `ENTRY_UNREADABLE`, or `NOT_CREATOR` if others have made
 * all entries of the key: only the creator changes an entry.
 */
export function ownEntry({ at, key, self, shown }: Addressed, action: string): FoundEntry {
  const entries = at.visible(key);
  const own = entries.find(({ owner }) => owner === self);
  if (own !== undefined) return own;
  const fault = entries.length === 0 && self === at.id ? at.faultAt(key) : null;
  if (fault !== null) throw unreadable(action, shown, fault);
  if (entries.length === 0) throw new ToolError("ENTRY_NOT_FOUND", `Memory not found: ${shown}`);
  throw new ToolError("NOT_CREATOR", `Cannot ${action} ${shown}: another agent has created it, only its creator can`);
}
