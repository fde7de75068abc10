/** What a manifest's `entryFile` says of a path: `{name}` stands for the name of the entry. */

/**
 * Returns the name of the entry whose file is at a path; `undefined` if no entry's is. `null` for a file that its owner has
 * named or put into a folder: then only the family knows the entry's name.
 */
export function entryNameIn(entryFile: string, path: string): string | null | undefined {
  const [before = "", behind = ""] = entryFile.split("{name}");
  const name = path.slice(before.length, path.length - behind.length);
  if (name === "" || path !== before + name + behind) return undefined;
  const isOwners = name.includes("%") || (name.includes("/") && !entryFile.includes("/"));
  return isOwners ? null : name;
}
