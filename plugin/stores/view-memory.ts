/**
 * The command `view`: one entry, or the entries below a path that ends in a slash. What others have created stands
 * below a line that names them, also alone, and each line of it is marked, so that no value can have such a line.
 */
import { counted, utf8Bytes } from "../../shared/text.ts";
import { shown as seen, shownBody } from "../kit/hidden-text.ts";
import type { Answer } from "../kit/serve-tool.ts";
import { addressed } from "./addressed.ts";
import type { Addressed } from "./addressed.ts";
import type { FoundEntry } from "./entry-store.ts";
import { marked } from "./marked-lines.ts";
import { pathFor } from "./memory-path.ts";
import { required } from "./required.ts";
import type { PathInput } from "./schemas.ts";
import { unreadableNote } from "./unreadable-note.ts";
import { jsonBytes, shownValue } from "./value.ts";

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
  /** Missing if several entries have too much for an answer. */
  readonly value?: unknown;
}

export interface Viewed {
  /** Empty if there is nothing. Several if several agents have created an entry with this key. */
  readonly entries: readonly (ShownEntry | ViewedEntry)[];
}

/** Of an answer as JSON, without what stands around texts and values. */
const answerBytesMax = 480_000;

export function viewMemory({ path }: PathInput): Answer<Viewed> {
  const place = addressed(required(path, "path", "path is required for view"), "read");
  return place.isFolder ? listFolder(place) : viewEntry(place);
}

function viewEntry({ at, self, key, shown }: Addressed): Answer<Viewed> {
  const found = at.visible(key);
  if (found.length === 0) return { message: nothingAt(at.faultAt(key), shown), data: { entries: [] } };
  // The caller's own one has room first: others can have put large ones beside it.
  const isOwn = ({ owner }: FoundEntry): boolean => owner === self;
  const alone = found.length === 1 && found.every(isOwn);
  const texts = new Map<FoundEntry, string>();
  let bytesLeft: number = answerBytesMax;
  for (const entry of found.toSorted((a, b) => Number(isOwn(b)) - Number(isOwn(a)))) {
    const { content } = entry.value;
    const text = shownBody(alone ? content : marked(content));
    const bytes = jsonBytes(text) + jsonBytes(shownBody(content));
    if (bytes > bytesLeft && !(alone && text === content)) continue;
    bytesLeft -= bytes;
    texts.set(entry, text);
  }
  const entries = found.map((entry) => ({
    ...shownEntry(entry, at.id, self),
    ...(texts.has(entry) && { value: shownValue(entry.value) }),
  }));
  const message = alone
    ? (texts.get(found[0] as FoundEntry) ?? tooLarge)
    : found.map((entry) => `${creatorOf(entry, self)}\n${texts.get(entry) ?? tooLarge}`).join("\n");
  return { message, data: { entries } };
}

const tooLarge = "(too large for this answer)";

const nothingAt = (fault: string | null, shown: string): string =>
  fault === null ? `No memory at ${shown}` : `A file is at ${shown} that cannot be read: ${fault}`;

const creatorOf = ({ owner }: FoundEntry, self: string): string => `[created by ${owner === self ? "you" : owner}]`;

function listFolder({ at, self, key: prefix, shown }: Addressed): Answer<Viewed> {
  const all = at.shownBelow(prefix, (entry) => shownEntry(entry, at.id, self));
  const note = unreadableNote([at], self);
  if (all.length === 0) return { message: [`No memories below ${shown}`, ...note].join("\n"), data: { entries: [] } };
  let answer = listed(all, all.length, { self, note });
  for (let count = all.length; jsonBytes(answer) > answerBytesMax; answer = listed(all, count, { self, note })) {
    count = Math.floor(count * 0.9);
  }
  return answer;
}

interface Listing {
  readonly self: string;
  /** What stands below the entries. */
  readonly note: readonly string[];
}

/** The first entries of a listing, so many as fit into an answer. */
function listed(all: readonly ShownEntry[], count: number, { self, note }: Listing): Answer<Viewed> {
  const entries = all.slice(0, count);
  const lines = entries.map(({ path, bytes, owner }) => `${path} (${counted(bytes, "byte")}${byOther(owner, self)})`);
  const left = all.length - count;
  const message = [...lines, ...(left === 0 ? [] : [`[${left} more: view a folder of them]`]), ...note].join("\n");
  return { message, data: { entries } };
}

const byOther = (owner: string, self: string): string => (owner === self ? "" : `, by ${owner}`);

export function shownEntry(entry: FoundEntry, store: string, self: string): ShownEntry {
  const { key, owner, created, updated, expires, encrypted, value } = entry;
  const path = seen(pathFor(store, self, key));
  return {
    path,
    key: seen(key),
    storeId: store,
    owner,
    created,
    updated,
    expires,
    encrypted,
    bytes: utf8Bytes(value.content),
  };
}
