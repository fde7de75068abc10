/**
 * Marks of forgotten notes, from which the other machines of an agent learn that. A mark is an entry that only programs
 * find. It ends on its own, and the oldest marks give way, because they count among the entries of the store.
 */
import type { EntryStore } from "../entry-store.ts";
import { pathOf } from "../key-path.ts";
import type { EntryId } from "../key-path.ts";
import { valueFrom } from "../value.ts";
import { noteLimits } from "./note-limits.ts";
import type { NoteChange } from "./note-line.ts";
import { isNoteKey } from "./note-place.ts";
import type { NotePlace } from "./note-place.ts";

/** The namespace of all marks. */
const namespaceOfMarks = "forgotten-notes";

export class ForgottenNotes {
  readonly #at: EntryStore;

  /** `at`: the agent's own store. */
  constructor(at: EntryStore) {
    this.#at = at;
  }

  add(place: NotePlace, updated: string): void {
    const id = this.#idOf(keyOfMark(place));
    const expires = new Date(Date.parse(this.#at.now) + noteLimits.forgottenMs).toISOString();
    const entry = { ...id, encrypted: false, value: valueFrom(""), created: updated, updated, expires };
    this.#makeRoom(pathOf(id, this.#at.id));
    this.#at.write(entry, this.#at.find(id));
  }

  /** When a note was forgotten; `null` if it never was, or long ago. */
  timeOf(place: NotePlace): string | null {
    return this.#at.find(this.#idOf(keyOfMark(place)))?.updated ?? null;
  }

  /** The marks of a namespace, and some of others: a path that is too long does not say whose mark it is. */
  changes(namespace: string): NoteChange[] {
    const folders = [keyOfMark({ namespace, key: "k" }), tooLong].map((key) => this.#folderOf(key));
    return this.#all().filter(({ path }) => folders.some((folder) => path.startsWith(folder)));
  }

  /** What a mark is about; `null` if it is of another namespace, or has ended. */
  read(path: string, namespace: string): { readonly key: string; readonly forgotten: string } | null {
    const entry = this.#at.entryAt(path);
    if (entry?.namespace !== namespaceOfMarks) return null;
    const key = entry.key.slice(entry.key.indexOf("/") + 1);
    if (!isNoteKey(key) || entry.key !== keyOfMark({ namespace, key })) return null;
    return { key, forgotten: entry.updated ?? this.#at.now };
  }

  #makeRoom(path: string): void {
    const others = this.#all().filter((mark) => mark.path !== path);
    const surplus = Math.max(0, others.length - noteLimits.marksMax + 1);
    for (const mark of others.toSorted((a, b) => a.changedUs - b.changedUs).slice(0, surplus)) this.#at.trash(mark);
  }

  #all(): NoteChange[] {
    const folder = this.#folderOf("k");
    const files = this.#at.files.filter(({ path }) => path.startsWith(folder));
    return files.map(({ path, changedUs = 0 }) => ({ path, changedUs }));
  }

  #idOf(key: string): EntryId {
    return { owner: this.#at.id, isInternal: true, namespace: namespaceOfMarks, key };
  }

  #folderOf(key: string): string {
    return pathOf(this.#idOf(key), this.#at.id).replace(/[^/]*$/, "");
  }
}

/** A namespace has no line breaks, so each gives another key. A slash in it would be a folder's end. */
const keyOfMark = ({ namespace, key }: NotePlace): string => `${namespace.replaceAll("/", "\n")}/${key}`;

/** A key with which a path is too long. */
const tooLong = "k".repeat(200);
