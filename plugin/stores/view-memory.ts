/** The command `view`: one entry, or the entries below a path that ends in a slash. */
import { counted, utf8Bytes } from "../../shared/text.ts";
import type { Answer } from "../serve-tool.ts";
import { addressed } from "./addressed.ts";
import type { Addressed } from "./addressed.ts";
import type { FoundEntry } from "./entry-store.ts";
import { pathFor } from "./memory-path.ts";
import { required } from "./required.ts";
import type { PathInput } from "./schemas.ts";
import { shownValue } from "./value.ts";

export interface ShownEntry {
  readonly path: string;
  readonly key: string;
  readonly storeId: string;
  /** The own store of whoever created it. */
  readonly owner: string;
  readonly created: string | null;
  readonly updated: string | null;
  readonly expires: string | null;
  readonly encrypted: boolean;
  readonly bytes: number;
}

export interface ViewedEntry extends ShownEntry {
  readonly value: unknown;
}

export interface Viewed {
  /** Empty if there is nothing. Several if several agents have created an entry with this key. */
  readonly entries: readonly (ShownEntry | ViewedEntry)[];
}

export function viewMemory({ path }: PathInput): Answer<Viewed> {
  const place = addressed(required(path, "path", "path is required for view"), "read");
  return place.isFolder ? listFolder(place) : viewEntry(place);
}

function viewEntry({ at, self, key, shown }: Addressed): Answer<Viewed> {
  const found = at.visible(key);
  const entries = found.map((entry) => ({ ...shownEntry(entry, at.id, self), value: shownValue(entry.value) }));
  const message = found.length === 0 ? `No memory at ${shown}` : textOf(found, self);
  return { message, data: { entries } };
}

/** The values as text. With several, each after a line with its creator. */
function textOf(found: readonly FoundEntry[], self: string): string {
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only.value.content;
  return found.map(({ owner, value }) => `[created by ${owner === self ? "you" : owner}]\n${value.content}`).join("\n");
}

function listFolder({ at, self, key: prefix, shown }: Addressed): Answer<Viewed> {
  const found = at.visibleBelow(prefix);
  const entries = found.map((entry) => shownEntry(entry, at.id, self));
  const lines = entries.map(
    ({ path, bytes, owner }) => `${path} (${counted(bytes, "byte")}${owner === self ? "" : `, by ${owner}`})`,
  );
  const message = lines.length === 0 ? `No memories below ${shown}` : lines.join("\n");
  return { message, data: { entries } };
}

export function shownEntry(entry: FoundEntry, store: string, self: string): ShownEntry {
  const { key, owner, created, updated, expires, encrypted, value } = entry;
  const path = pathFor(store, self, key);
  return { path, key, storeId: store, owner, created, updated, expires, encrypted, bytes: utf8Bytes(value.content) };
}
