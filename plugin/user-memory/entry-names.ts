/**
 * Which file has which name, of all files together. `<name>.md` always has its name. Any other note has one of the two that
 * `note-name.ts` makes: the one that its line in the index has as its title, so that it keeps it; without such a line the
 * short one, unless that is taken by then, in the order of the paths.
 */
import { entryNameAt, isReserved } from "./entry-name.ts";
import { isEntryPath } from "./note-path.ts";
import { longName, shortName } from "./notes.deferred.ts";

/**
 * Returns the entries' names by path. `titles`: by path, what the lines of the index have as titles; asked for only if there
 * are notes whose path does not tell.
 */
export function namesOf(paths: readonly string[], titles: () => ReadonlyMap<string, string>): Map<string, string> {
  const names = new Map<string, string>();
  const others: string[] = [];
  for (const path of paths) {
    const own = entryNameAt(path);
    if (own !== null) names.set(path, own);
    else if (isEntryPath(path)) others.push(path);
  }
  if (others.length === 0) return names;
  const taken = new Set(Array.from(names.values(), (name) => name.toLowerCase()));
  const take = (path: string, name: string): void => {
    if (names.has(path) || isReserved(name) || taken.has(name.toLowerCase())) return;
    names.set(path, name);
    taken.add(name.toLowerCase());
  };
  const titleOf = titles();
  for (const path of others) {
    const title = titleOf.get(path);
    if (title === shortName(path) || title === longName(path)) take(path, title);
  }
  for (const path of others) take(path, shortName(path));
  for (const path of others) take(path, longName(path));
  return names;
}
