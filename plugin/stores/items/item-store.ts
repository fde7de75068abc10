/** The items in the caller's own store: values of programs in namespaces, which no model and no grant reaches. */
import type { ListedFile } from "../../../shared/abi.ts";
import { quoted } from "../../../shared/text.ts";
import type { Unreadable } from "../entry-file.ts";
import { ownStore } from "../entry-store.ts";
import type { EntryStore, FoundEntry } from "../entry-store.ts";
import { foldersBelow, itemAt, labelsOf } from "../item-path.ts";
import type { ItemId } from "../item-path.ts";
import { pathOf } from "../key-path.ts";
import type { EntryId } from "../key-path.ts";
import { unreadable } from "../unreadable.ts";
import { shownValue, valueFrom } from "../value.ts";

/** As programs get it. */
export interface Item {
  readonly namespace: readonly string[];
  readonly key: string;
  readonly value: unknown;
  /** UTC, ISO 8601; `null` in a file that a person wrote without it. */
  readonly created: string | null;
  readonly updated: string | null;
}

/** A file in which an item can lie. `namespace` is `null` if only the file tells it. */
export interface ItemFile extends ListedFile {
  readonly namespace: string | null;
}

export class ItemStore {
  readonly id: string;
  /** The items that were read, for an answer's `shows`. */
  readonly shows: Set<string> = new Set();
  readonly #at: EntryStore;
  readonly #listed = new Map<string, readonly ItemFile[]>();
  readonly #below = new Map<string, readonly ItemFile[]>();

  constructor() {
    this.#at = ownStore().check("readwrite");
    this.id = this.#at.id;
  }

  find(id: ItemId): FoundEntry | Unreadable | null {
    return this.read(this.pathOf(id));
  }

  read(path: string): FoundEntry | Unreadable | null {
    const found = this.#at.read(path);
    if (found !== null) this.shows.add(this.#at.place(path));
    return found;
  }

  wordsOf(path: string, beginnings: string): string | null | undefined {
    return this.#at.wordsOf(path, beginnings);
  }

  pathOf(id: ItemId): string {
    return pathOf(this.#entryId(id), this.id);
  }

  put(id: ItemId, given: unknown): void {
    const found = this.find(id);
    const replaced = found === null || "unreadable" in found ? null : found;
    const entry = { ...this.#entryId(id), encrypted: false, value: valueFrom(given) };
    this.#at.write({ ...entry, ...this.#at.times(replaced, undefined) }, replaced);
  }

  /** Moves an item to the trash; `false` if there is none. Throws `ENTRY_UNREADABLE`: a person has to look at it. */
  remove(id: ItemId): boolean {
    const found = this.find(id);
    if (found === null) return false;
    if ("unreadable" in found) throw unreadable("delete", `the item ${quoted(id.key)}`, found.unreadable);
    this.#at.trash(found);
    return true;
  }

  /**
   * The files in which items in and below a namespace can lie, by path. Some can be of others: their files say it.
   * Without the changes of this call.
   */
  filesBelow(namespace: string): readonly ItemFile[] {
    const files = this.#below.get(namespace) ?? this.#findBelow(namespace);
    this.#below.set(namespace, files);
    return files;
  }

  /** A listing is sorted, and none has files between those of another one. */
  #findBelow(above: string): ItemFile[] {
    const all = foldersBelow(above)
      .toSorted()
      .flatMap((folder) => this.#list(folder));
    return all.filter(({ namespace }) => namespace === null || isBelow(namespace, above));
  }

  #list(folder: string): readonly ItemFile[] {
    const known = this.#listed.get(folder) ?? this.#at.listBelow(folder).flatMap(itemFile);
    this.#listed.set(folder, known);
    return known;
  }

  #entryId(id: ItemId): EntryId {
    return { owner: this.id, isInternal: true, isItem: true, ...id };
  }
}

function itemFile(file: ListedFile): ItemFile[] {
  const place = itemAt(file.path);
  return place === null ? [] : [{ ...file, namespace: place.namespace }];
}

export const isBelow = (namespace: string, above: string): boolean =>
  above === "" || namespace === above || namespace.startsWith(`${above}/`);

export const shownItem = ({ namespace, key, value, created, updated }: FoundEntry): Item => ({
  namespace: labelsOf(namespace),
  key,
  value: shownValue(value),
  created,
  updated,
});
