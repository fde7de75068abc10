/**
 * Where an entry's file lies in its store: `<key>.md`, so that people find it. Before it stand, where they apply,
 * `_.by/<creator>/` if the creator is not the store's owner, `_.in/` if tools for models do not see the entry, and
 * `_.ns/<namespace>/`. A key that ends in `.md` is the file's name; after any other key stands `_.md`. No key gives a
 * name that begins with `_.`. The items of programs have a folder of their own (`item-path.ts`).
 */
import { isStoreId } from "../../shared/shared-scope.ts";
import { hashName } from "../kit/long-name.deferred.ts";
import { isLongName, longMark, nameOf, plainName, textOf } from "../kit/path-name.ts";
import { itemAt, itemsFolder, pathOfItem } from "./item-path.ts";

/** What identifies an entry in a store. */
export interface EntryId {
  /** The own store of whoever made it. */
  readonly owner: string;
  /** Whether it is for programs only. An entry for models with the same key is another entry. */
  readonly isInternal: boolean;
  /** Empty for the entries that tools for models see. Of an item, its labels in one text. */
  readonly namespace: string;
  readonly key: string;
  /** Whether it is an item of a program: only the tool `StoreBatch` has them. */
  readonly isItem?: true | undefined;
}

/** Where a file is. `key` and `namespace` are `null` if a name is too long to hold them: then only the file does. */
export type EntryPlace = Pick<EntryId, "owner" | "isInternal" | "isItem"> & {
  readonly key: string | null;
  readonly namespace: string | null;
};

/** What tools for models make under a key. */
export const forModels = (owner: string, key: string): EntryId => ({ owner, isInternal: false, namespace: "", key });

/** Whether tools for models see what lies there: programs have the rest. */
export const isForModels = ({ isInternal, namespace }: Pick<EntryPlace, "isInternal" | "namespace">): boolean =>
  !isInternal && namespace === "";

/** What tools for models see, and what programs have, as entries and as items: each kind has a limit of its own. */
export const entryKinds = ["models", "programs", "items"] as const;
export type EntryKind = (typeof entryKinds)[number];

export function kindOf(place: Pick<EntryPlace, "isInternal" | "isItem" | "namespace">): EntryKind {
  if (place.isItem) return "items";
  return isForModels(place) ? "models" : "programs";
}

/** With all that stands before and behind it, and a trash stamp, a path has at most 255 characters. */
const keyCharsMax = 90;
const namespaceCharsMax = 40;

export const byFolder = "_.by";
const [internalFolder, namespaceFolder] = ["_.in", "_.ns"];

/** `store`: the id of the store, which its owner's entries need not name. */
export function pathOf({ owner, isInternal, namespace, key, isItem }: EntryId, store: string): string {
  if (isItem) return pathOfItem({ namespace, key });
  const by = owner === store ? "" : `${byFolder}/${owner}/`;
  const internal = isInternal ? `${internalFolder}/` : "";
  const within = namespace === "" ? "" : `${namespaceFolder}/${shortened(nameOf(namespace), namespace)}/`;
  return by + internal + within + pathOfKey(key);
}

/** The end of the path of every entry with a key, whoever made it. */
export function pathOfKey(key: string): string {
  const names = key.split("/").map((segment) => nameOf(segment));
  const last = names.pop() ?? "";
  const file = last.endsWith(".md") ? last : `${last}_.md`;
  // A folder's name must not be that of a file: the key `a.md/b` is beside the key `a.md`.
  const path = [...names.map((name) => name.replace(/\.md$/, "_.2emd")), file].join("/");
  return path.length <= keyCharsMax ? path : `${longMark}/${hashName(key)}.md`;
}

/** `null` for a path at which no entry lies. */
export function placeOf(path: string, store: string): EntryPlace | null {
  if (path.startsWith(`${itemsFolder}/`)) {
    const item = itemAt(path);
    return item && { owner: store, isInternal: true, isItem: true, ...item };
  }
  const named = plain.exec(path);
  if (named !== null) return plainPlace(named, store);
  const segments = path.split("/");
  const by = segments[0] === byFolder ? segments.splice(0, 2)[1] : undefined;
  const isInternal = segments[0] === internalFolder && segments.shift() !== undefined;
  const within = segments[0] === namespaceFolder ? segments.splice(0, 2)[1] : undefined;
  if (!isOwnerOf(by, store)) return null;
  const place = { owner: by ?? store, isInternal, namespace: within === undefined ? "" : textOf(within) };
  if (place.namespace === null && !isLongName(within ?? "")) return null;
  const rest = segments.join("/");
  if (segments[0] === longMark)
    return isLongName(longMark + rest.slice(4, -3)) && rest.endsWith(".md") ? { ...place, key: null } : null;
  const key = keyIn(segments);
  return key !== null && pathOfKey(key) === rest ? { ...place, key } : null;
}

const isOwnerOf = (by: string | undefined, store: string): boolean =>
  by === undefined || (isStoreId(by) && by !== store);

/**
 * A path in which nothing is encoded, shortened, or a name of a system: what stands in it is the key. Most paths are such,
 * and to decode and encode one takes 50 times as long.
 */
const plainKey = String.raw`((?:${plainName}(?<!\.md)/)*${plainName})(?:(?<=\.md)|(?<!\.md)_\.md)`;
const plain = new RegExp(
  String.raw`^(?:_\.by/([^/]+)/)?(_\.in/)?(?:_\.ns/(?=.{1,${namespaceCharsMax}}/)(${plainName})/)?` +
    `(?=.{1,${keyCharsMax}}$)${plainKey}$`,
);

function plainPlace([, by, internal, namespace = "", key = ""]: RegExpExecArray, store: string): EntryPlace | null {
  if (!isOwnerOf(by, store)) return null;
  return { owner: by ?? store, isInternal: internal !== undefined, namespace, key };
}

function keyIn(segments: readonly string[]): string | null {
  const names = segments.map((name, at) =>
    at < segments.length - 1 ? name.replace(/(?<=.)_\.2emd$/, ".md") : name.replace(/_\.md$/, ""),
  );
  const texts = names.map((name) => textOf(name));
  return texts.includes(null) ? null : texts.join("/");
}

const shortened = (name: string, text: string): string =>
  name.length <= namespaceCharsMax ? name : `${longMark}${hashName(text)}`;
