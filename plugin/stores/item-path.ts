/**
 * Where an item's file lies in its store: `_.items/<label>/<label>/<key>_.md`, so that people find it and a search lists
 * no more than one folder. A namespace or a key that makes too long a name is `_.x` and a hash: then the file has it.
 */
import { hashName } from "../kit/long-name.deferred.ts";
import { isLongName, longMark, nameOf, plainName, textOf } from "../kit/path-name.ts";

/** What identifies an item. The namespace is its labels in one text: see `namespaceOf`. */
export interface ItemId {
  readonly namespace: string;
  readonly key: string;
}

export const itemsFolder = "_.items";

/** With all that stands before and behind them, and a trash stamp, a path has at most 255 characters. */
const namespaceCharsMax = 90;
const keyCharsMax = 90;

/** The labels in one text, one to one: a person reads `users/alice`. */
export const namespaceOf = (labels: readonly string[]): string =>
  labels.map((label) => label.replaceAll(/[%/]/g, encodeURIComponent)).join("/");

export const labelsOf = (namespace: string): string[] =>
  namespace.split("/").map((label) => label.replaceAll("%2F", "/").replaceAll("%25", "%"));

export const pathOfItem = ({ namespace, key }: ItemId): string =>
  `${itemsFolder}/${folderOf(namespace)}/${fileOf(key)}`;

/** The beginnings of the paths of all items in and below a namespace, and perhaps of others. */
export function foldersBelow(namespace: string): string[] {
  const long = `${itemsFolder}/${longMark}`;
  if (namespace === "") return [`${itemsFolder}/`];
  const folder = folderOf(namespace);
  return folder.startsWith(longMark) ? [long] : [`${itemsFolder}/${folder}/`, long];
}

function folderOf(namespace: string): string {
  const folder = labelsOf(namespace).map(folderName).join("/");
  return folder.length <= namespaceCharsMax ? folder : `${longMark}${hashName(namespace)}`;
}

/** A folder's name must not be that of a file. */
const folderName = (label: string): string => nameOf(label).replace(/\.md$/, "_.2emd");

function fileOf(key: string): string {
  const name = nameOf(key);
  const file = name.endsWith(".md") ? name : `${name}_.md`;
  return file.length <= keyCharsMax ? file : `${longMark}${hashName(key)}.md`;
}

/** `null` for a path at which no item lies. A part that is `null` is in the file. */
export function itemAt(path: string): { readonly [Part in keyof ItemId]: string | null } | null {
  const [, folders, name] = plain.exec(path) ?? [];
  if (folders !== undefined && name !== undefined) return { namespace: folders, key: name };
  const [root, ...names] = path.split("/");
  const file = names.pop() ?? "";
  const folder = names.join("/");
  if (root !== itemsFolder || names.length === 0) return null;
  const labels = names.map((each) => textOf(each.replace(/(?<=.)_\.2emd$/, ".md")));
  const namespace = labels.includes(null) ? null : namespaceOf(labels as string[]);
  const key = textOf(file.replace(/_\.md$/, ""));
  if (namespace === null ? !isLongName(folder) : folderOf(namespace) !== folder) return null;
  if (key === null ? !(file.endsWith(".md") && isLongName(file.slice(0, -3))) : fileOf(key) !== file) return null;
  return { namespace, key };
}

const plain = new RegExp(
  String.raw`^_\.items/(?=.{1,${namespaceCharsMax}}/[^/]{1,${keyCharsMax}}$)` +
    String.raw`(${plainName}(?<!\.md)(?:/${plainName}(?<!\.md))*)/(${plainName})(?:(?<=\.md)|(?<!\.md)_\.md)$`,
);
