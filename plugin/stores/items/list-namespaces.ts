/** The operation `namespaces`: the namespaces that have items. */
import { itemAt, labelsOf, namespaceOf } from "../item-path.ts";
import type { AnswerRoom } from "./answer-room.ts";
import type { ItemStore } from "./item-store.ts";
import type { NamespaceList } from "./operation.ts";

export interface FoundNamespaces {
  readonly namespaces: readonly (readonly string[])[];
  /** If there was no room for all: the same operation goes on with this. */
  readonly next?: { readonly offset: number };
}

/** Sorted by their labels. `null` if the batch has read too much to tell. */
export function listNamespaces(store: ItemStore, list: NamespaceList, room: AnswerRoom): FoundNamespaces | null {
  const all = namespacesOf(store, list, room);
  if (all === null) return null;
  const cut = all.filter((labels) => isMatch(labels, list)).map((labels) => labels.slice(0, list.depth));
  const each = [...new Map(cut.map((labels) => [namespaceOf(labels), labels])).values()].toSorted(compare);
  const page = each.slice(list.offset, list.offset + list.limit);
  const namespaces: string[][] = [];
  for (const labels of page) {
    if (!room.takes(labels)) return { namespaces, next: { offset: list.offset + namespaces.length } };
    namespaces.push(labels);
  }
  return { namespaces };
}

function namespacesOf(store: ItemStore, { begins }: NamespaceList, room: AnswerRoom): string[][] | null {
  const wild = begins.indexOf("*");
  const found = new Set<string>();
  // Of a namespace that is too long for a path, one file of its folder tells it.
  const told = new Set<string>();
  for (const file of store.filesBelow(namespaceOf(wild === -1 ? begins : begins.slice(0, wild)))) {
    const namespace = itemAt(file.path)?.namespace;
    if (typeof namespace === "string") found.add(namespace);
    const folder = file.path.slice(0, file.path.lastIndexOf("/"));
    if (namespace !== null || told.has(folder)) continue;
    if (!room.takesRead(file)) return null;
    const entry = store.read(file.path);
    if (entry === null || "unreadable" in entry) continue;
    found.add(entry.namespace);
    told.add(folder);
  }
  return Array.from(found, labelsOf);
}

const isMatch = (labels: readonly string[], { begins, ends }: NamespaceList): boolean =>
  isAt(labels.slice(0, begins.length), begins) && isAt(labels.slice(Math.max(0, labels.length - ends.length)), ends);

const isAt = (labels: readonly string[], wanted: readonly string[]): boolean =>
  labels.length === wanted.length && wanted.every((label, at) => label === "*" || label === labels[at]);

function compare(one: readonly string[], other: readonly string[]): number {
  const at = one.findIndex((label, each) => label !== other[each]);
  const [a, b] = [one[at], other[at]];
  if (a === undefined || b === undefined) return one.length - other.length;
  return a < b ? -1 : 1;
}
