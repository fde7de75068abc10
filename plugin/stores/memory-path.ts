/** The paths of the tool `memory`: `/memories/<key>`, and `/memories/shared/<store id>/<key>` for another store. */
import { isStoreId } from "../../shared/shared-scope.ts";
import { quoted } from "../../shared/text.ts";
import { hiddenIn, whyRefused } from "../kit/hidden-text.ts";
import { breaksLine } from "../kit/plain-line.ts";
import { ToolError } from "../kit/tool-error.ts";
import { entryLimits } from "./store-limits.ts";

export interface MemoryPath {
  /** As it was given. */
  readonly shown: string;
  /** The store's id; `null` for the caller's own. */
  readonly store: string | null;
  /** The key, or in a folder the beginning of keys: empty, or ending in a slash. */
  readonly key: string;
  readonly isFolder: boolean;
}

const root = "/memories";
export const sharedFolder = "shared";

/** Throws `INPUT_INVALID` for a path that no entry and no folder can have. */
export function parsePath(path: string): MemoryPath {
  if (path === root) return { shown: path, store: null, key: "", isFolder: true };
  if (!path.startsWith(`${root}/`)) throw invalidPath(path, `it begins with ${root}/`);
  const rest = path.slice(root.length + 1);
  const inStore = /^shared\/([^/]*)(?:\/(.*))?$/s.exec(rest);
  if (rest === sharedFolder || rest === `${sharedFolder}/`)
    throw invalidPath(path, `${root}/${sharedFolder}/<store_id>/<key>`);
  const [store, key] = inStore === null ? [null, rest] : [inStore[1] ?? "", inStore[2] ?? ""];
  if (store !== null && !isStoreId(store)) throw invalidPath(path, `a store id that is a UUID in lower case`);
  const isFolder = key === "" || key.endsWith("/");
  const fault = key === "" ? null : faultOfKey(isFolder ? key.slice(0, -1) : key);
  if (fault !== null) throw invalidPath(path, fault);
  return { shown: path, store, key: key.normalize("NFC"), isFolder };
}

/** The path under which a caller finds an entry. */
export function pathFor(store: string, own: string, key: string): string {
  return store === own ? `${root}/${key}` : `${root}/${sharedFolder}/${store}/${key}`;
}

/** Throws `INPUT_INVALID`, or `NAME_RESERVED` for a key that a path could not name. */
export function checkKey(key: string): void {
  const fault = faultOfKey(key);
  if (fault !== null) throw new ToolError("INPUT_INVALID", `Cannot use the key ${quoted(key)}: allowed: ${fault}`);
  if (key !== sharedFolder && !key.startsWith(`${sharedFolder}/`)) return;
  throw new ToolError("NAME_RESERVED", `Cannot use the key ${quoted(key)}: "${sharedFolder}/" stands for other stores`);
}

/** Throws `INPUT_INVALID` for a new key with a character that a person cannot see. People and programs can have made one. */
export function refuseHiddenKey(key: string): void {
  const place = hiddenIn(key);
  if (place === null) return;
  throw new ToolError("INPUT_INVALID", `Cannot use the key ${quoted(key)}: allowed: a key ${whyRefused(place)}`);
}

/** What is allowed; `null` for a key that can be used. */
export function faultOfKey(key: string): string | null {
  const { keyCharsMax } = entryLimits;
  if (key.length < 1 || key.length > keyCharsMax) return `a key of 1 to ${keyCharsMax} characters`;
  if (breaksLine.test(key) || !key.isWellFormed()) return "a key without control characters and line separators";
  const isOdd = key.split("/").some((name) => name === "" || name === "." || name === "..");
  return isOdd ? 'a key without empty parts, "." and ".." between slashes' : null;
}

export function invalidPath(path: string, allowed: string): ToolError {
  const issues = [{ field: "path", value: quoted(path), allowed }];
  return new ToolError("INPUT_INVALID", `Cannot use the path ${quoted(path)}: allowed: ${allowed}`, issues);
}
