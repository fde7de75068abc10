/**
 * The notes in an agent's own store: entries in the namespaces of `note-place.ts`. The tool `memory` does not see them,
 * and no grant reaches them. A forgotten note leaves a mark for other machines of the agent, which ends on its own.
 */
import { oneLine } from "../../kit/one-line.ts";
import { ToolError } from "../../kit/tool-error.ts";
import { search } from "../../search/search.ts";
import type { SearchedEntry, SearchedFile } from "../../search/searched.ts";
import { ownStore } from "../entry-store.ts";
import type { EntryStore, FoundEntry } from "../entry-store.ts";
import { pathOf, placeOf } from "../key-path.ts";
import type { EntryId } from "../key-path.ts";
import type { NoteSource } from "../note-lines.ts";
import { searchedFile } from "../store-index.ts";
import { jsonBytes, valueFrom } from "../value.ts";
import { ForgottenNotes } from "./forgotten-notes.ts";
import { noteLimits } from "./note-limits.ts";
import type { NoteChange } from "./note-line.ts";
import { isNamespace, isNoteKey } from "./note-place.ts";
import type { NotePlace } from "./note-place.ts";

export interface StoredNote extends NotePlace {
  readonly content: string;
  readonly description: string;
  readonly source: NoteSource;
  /** UTC, ISO 8601. */
  readonly created: string;
  readonly updated: string;
}

export interface NewNote extends NotePlace {
  readonly content: string;
  readonly description: string;
  readonly source: NoteSource;
  readonly updated: string;
}

type FoundNote = SearchedEntry & { readonly note: StoredNote };

export class NoteStore {
  readonly #own: string;
  readonly #at: EntryStore;
  readonly #forgotten: ForgottenNotes;

  constructor() {
    this.#at = ownStore().check("readwrite");
    this.#own = this.#at.id;
    this.#forgotten = new ForgottenNotes(this.#at);
  }

  get now(): string {
    return this.#at.now;
  }

  find(place: NotePlace): StoredNote | null {
    return this.#noteIn(this.#at.find(this.#idOf(place)), place.namespace);
  }

  /** All notes of some namespaces; of all, without any. */
  all(namespaces: readonly string[] | undefined): StoredNote[] {
    const notes = this.#files(namespaces).map(({ path }) => this.#noteIn(this.#at.entryAt(path)));
    return notes.filter((note) => note !== null && namespaces?.includes(note.namespace) !== false) as StoredNote[];
  }

  /** The best notes for a query, at most 50. */
  search(query: string, namespaces: readonly string[] | undefined, limit: number): StoredNote[] {
    const files = this.#files(namespaces);
    const store = { store: this.#own, listed: files.length, files, indexFiles: [], readIndex: () => null };
    const readEntry = (path: string): FoundNote | null => {
      const note = this.#noteIn(this.#at.entryAt(path));
      if (note === null || namespaces?.includes(note.namespace) === false) return null;
      const { key, description, content, updated } = note;
      return { key, value: `${description}\n${content}`, updatedMs: Date.parse(updated), expiresMs: null, note };
    };
    const { hits } = search({ query, stores: [() => ({ ...store, readEntry })], limit, nowMs: Date.parse(this.now) });
    return hits.map(({ entry }) => entry.note);
  }

  put({ content, description, source, updated, ...place }: NewNote): StoredNote {
    // As JSON, control characters take six times their bytes. A note that fits into no answer could not be read.
    if (jsonBytes(content) > noteLimits.contentJsonBytesMax) throw new ToolError("VALUE_TOO_LARGE", "Value too large");
    const id = this.#idOf(place);
    const replaced = this.#at.find(id);
    const note = { description: oneLine(description, noteLimits.descriptionCharsMax, ""), source };
    const created = replaced?.created ?? updated;
    const entry = { ...id, encrypted: false, value: valueFrom(content), created, updated, expires: null, note };
    this.#at.write(entry, replaced);
    return { ...place, content, ...note, created, updated };
  }

  /** Moves a note to the trash; `false` if there is none. */
  forget(place: NotePlace, updated: string): boolean {
    const entry = this.#at.find(this.#idOf(place));
    if (this.#noteIn(entry, place.namespace) === null || entry === null) return false;
    this.#at.trash(entry);
    this.#forgotten.add(place, updated);
    return true;
  }

  /** When a note was forgotten; `null` if it never was, or long ago. */
  forgottenAt(place: NotePlace): string | null {
    return this.#forgotten.timeOf(place);
  }

  /** The changes in a namespace, in no order. Some can be of other namespaces. */
  changes(namespace: string): NoteChange[] {
    const folder = pathOf(this.#idOf({ namespace, key: "k" }), this.#own).replace(/[^/]*$/, "");
    const notes = this.#at.files.filter(({ path }) => path.startsWith(folder));
    const changes = notes.map(({ path, changedUs = 0 }) => ({ path, changedUs }));
    return [...changes, ...this.#forgotten.changes(namespace)];
  }

  /** What a change is; `null` if it is none of this namespace. */
  changeAt(path: string, namespace: string): StoredNote | { readonly key: string; readonly forgotten: string } | null {
    const entry = this.#at.entryAt(path);
    return this.#noteIn(entry, namespace) ?? this.#forgotten.read(path, namespace);
  }

  /** The files in which such notes can lie. A name that is too long for a path does not show in it. */
  #files(namespaces: readonly string[] | undefined): SearchedFile[] {
    const canHold = (path: string): boolean => {
      const place = placeOf(path, this.#own);
      if (place === null || place.owner !== this.#own || place.isInternal || place.namespace === "") return false;
      return place.namespace === null || namespaces?.includes(place.namespace) !== false;
    };
    return this.#at.files.filter(({ path }) => canHold(path)).map(searchedFile);
  }

  /** `null` if the entry is no note: a program can put others into these namespaces. */
  #noteIn(entry: FoundEntry | null, namespace = entry?.namespace): StoredNote | null {
    if (entry === null || entry.isInternal || entry.encrypted || entry.namespace !== namespace) return null;
    if (!isNamespace(entry.namespace) || !isNoteKey(entry.key)) return null;
    const { key, value, note = { description: "", source: "owner" } } = entry;
    const updated = entry.updated ?? this.#changed(entry);
    const created = entry.created ?? updated;
    return { namespace: entry.namespace, key, content: value.content, ...note, created, updated };
  }

  /** For a file that a person has written without a time in it. */
  #changed({ path }: Pick<FoundEntry, "path">): string {
    const { changedUs = 0 } = this.#at.files.find((file) => file.path === path) ?? {};
    return changedUs === 0 ? this.now : new Date(changedUs / 1_000).toISOString();
  }

  #idOf({ namespace, key }: NotePlace): EntryId {
    return { owner: this.#own, isInternal: false, namespace, key };
  }
}
