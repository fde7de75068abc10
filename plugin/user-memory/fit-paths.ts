/** Which paths this family keeps files under. No file is read. */
import { decodedName } from "../../shared/encoded-name.ts";
import { isScopePath } from "../../shared/path.ts";
import type { RefusedPath } from "../../shared/roles.ts";
import { indexPath, isReserved } from "./entry-name.ts";
import { canHaveEntry } from "./note-name.ts";
import { isNotePath, whyNoEntry } from "./note-path.ts";

/** The paths that are neither the index's nor an entry's. */
export function unfitAmong(paths: readonly string[]): RefusedPath[] {
  return paths.filter((path) => path !== indexPath && !canHaveEntry(path)).map(refusalOf);
}

function refusalOf(path: string): RefusedPath {
  const name = /^([a-zA-Z0-9_-]+)\.md$/i.exec(path)?.[1];
  if (name !== undefined && isReserved(name)) return { path, code: "NAME_RESERVED", reason: "its name is reserved" };
  const why = isScopePath(path) && isNotePath(path) ? whyNoEntry(path) : null;
  if (why !== null) return { path, code: "INPUT_INVALID", reason: why };
  return { path, code: "INPUT_INVALID", reason: `it is not ${indexPath}, a note, or below trash/${adviceFor(path)}` };
}

/** How a person makes an entry of a text. Other files, such as pictures, stay what they are. */
function adviceFor(path: string): string {
  const name = isScopePath(path) ? decodedName(path.slice(path.lastIndexOf("/") + 1)) : "";
  const [, stem = ""] = /^(.+)\.(?:md|markdown|mdown|txt|text)$/i.exec(name) ?? /^([^.]+)$/.exec(name) ?? [];
  return stem === "" || isReserved(stem) ? "" : `; to make it an entry, rename it to ${stem}.md`;
}
