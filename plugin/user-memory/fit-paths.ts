/** Which paths this family keeps files under. No file is read. */
import type { RefusedPath } from "../../shared/roles.ts";
import { entryNameAt, entryPath, indexPath, isReserved } from "./entry-name.ts";
import { nameFrom } from "./name-from.deferred.ts";

/** The paths that are neither the index's nor an entry's. */
export function unfitAmong(paths: readonly string[]): RefusedPath[] {
  return paths.filter((path) => path !== indexPath && entryNameAt(path) === null).map(refusalOf);
}

/** The index's path: the family builds the index from the entries. */
export function derivedAmong(paths: readonly string[]): string[] {
  return paths.filter((path) => path === indexPath);
}

function refusalOf(path: string): RefusedPath {
  const name = /^([a-zA-Z0-9_-]+)\.md$/i.exec(path)?.[1];
  if (name !== undefined && isReserved(name)) return { path, code: "NAME_RESERVED", reason: "its name is reserved" };
  const reason = `it is not ${indexPath}, <name>.md with a valid entry name, or below trash/${adviceFor(path)}`;
  return { path, code: "INPUT_INVALID", reason };
}

/** How a person makes an entry of a text. Other files, such as pictures, stay what they are. */
function adviceFor(path: string): string {
  const [, stem = ""] = /([^/]*)\.(?:md|markdown|mdown|txt|text)$/i.exec(path) ?? /(?:^|\/)([^/.]+)$/.exec(path) ?? [];
  const name = nameFrom(stem);
  if (name === "" || isReserved(name)) return "";
  return `; to make it an entry, ${path.includes("/") ? "move" : "rename"} it to ${entryPath(name)}`;
}
