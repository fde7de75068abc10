/** The operation `namespaces`: the namespaces that have items. */
import { labelsOf, namespaceOf } from "../item-path.ts";
import type { AnswerRoom } from "./answer-room.ts";
import type { ItemStore } from "./item-store.ts";
import type { NamespaceList } from "./operation.ts";

export interface FoundNamespaces {
  readonly namespaces: readonly (readonly string[])[];
  /** If there was no room for all: the same operation goes on with this. */
  readonly next?: { readonly offset: number };
}

/** The namespaces of a store, for all operations of a batch. */
export class Namespaces {
  readonly #store: ItemStore;
  readonly #below = new Map<string, readonly string[][]>();

  constructor(store: ItemStore) {
    this.#store = store;
  }

  /** Sorted by their labels. `null` if the batch has read too much to tell. */
  list(list: NamespaceList, room: AnswerRoom): FoundNamespaces | null {
    const all = this.#allBelow(list, room);
    if (all === null || !room.takesList(all)) return null;
    const namespaces: string[][] = [];
    let left = list.offset;
    let last: readonly string[] | null = null;
    for (const labels of all) {
      if (!isMatch(labels, list)) continue;
      const cut = labels.slice(0, list.depth);
      // What is equal now was side by side before.
      if (last !== null && compare(cut, last) === 0) continue;
      last = cut;
      if (left > 0) {
        left--;
        continue;
      }
      if (namespaces.length >= list.limit) break;
      if (!room.takes(cut)) return { namespaces, next: { offset: list.offset + namespaces.length } };
      namespaces.push(cut);
    }
    return { namespaces };
  }

  #allBelow({ begins }: NamespaceList, room: AnswerRoom): readonly string[][] | null {
    const wild = begins.indexOf("*");
    const above = namespaceOf(wild === -1 ? begins : begins.slice(0, wild));
    const all = this.#below.get(above) ?? namespacesOf(this.#store, above, room);
    if (all !== null) this.#below.set(above, all);
    return all;
  }
}

function namespacesOf(store: ItemStore, above: string, room: AnswerRoom): string[][] | null {
  const found = new Set<string>();
  // Of a namespace that is too long for a path, one file of its folder tells it.
  const told = new Set<string>();
  for (const file of store.filesBelow(above)) {
    if (file.namespace !== null) {
      found.add(file.namespace);
      continue;
    }
    const folder = file.path.slice(0, file.path.lastIndexOf("/"));
    if (told.has(folder)) continue;
    if (!room.takesRead(file)) return null;
    const entry = store.read(file.path);
    if (entry === null || "unreadable" in entry) continue;
    found.add(entry.namespace);
    told.add(folder);
  }
  return Array.from(found, labelsOf).toSorted(compare);
}

const isMatch = (labels: readonly string[], { begins, ends }: NamespaceList): boolean =>
  hasAt(labels, begins, 0) && hasAt(labels, ends, labels.length - ends.length);

const hasAt = (labels: readonly string[], wanted: readonly string[], from: number): boolean =>
  from >= 0 &&
  from + wanted.length <= labels.length &&
  wanted.every((label, at) => label === "*" || label === labels[from + at]);

function compare(one: readonly string[], other: readonly string[]): number {
  const at = one.findIndex((label, each) => label !== other[each]);
  const [a, b] = [one[at], other[at]];
  if (a === undefined || b === undefined) return one.length - other.length;
  return a < b ? -1 : 1;
}
