/** The files in a part of a tree. */
import type { Files } from "./expected-memory.ts";
import type { Tree } from "./tree.ts";

/** All files below a folder by their paths, each after `above`. */
export function filesBelow(tree: Tree, path: readonly string[], above = ""): Files {
  const files = new Map<string, string>();
  const add = (folder: Tree, way: string): void => {
    for (const [name, what] of folder) {
      if (Buffer.isBuffer(what)) files.set(way + name, what.toString("utf8"));
      else add(what, `${way}${name}/`);
    }
  };
  const found = below(tree, path);
  if (found) add(found, above);
  return files;
}

/** The host's leftovers in a home. */
export function stagedBelow(tree: Tree, home: readonly string[]): string[] {
  const own = below(tree, [...home, ".memcell"]);
  return own?.has("lock") ? Array.from(own.keys()).filter((name) => name.startsWith("staged-")) : [];
}

export function below(tree: Tree, path: readonly string[]): Tree | null {
  const [name, ...rest] = path;
  if (name === undefined) return tree;
  const found = tree.get(name);
  return found === undefined || Buffer.isBuffer(found) ? null : below(found, rest);
}
