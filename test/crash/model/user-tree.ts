/** A user's memory in a tree, and the host's leftovers beside it. */
import type { Files } from "./expected-memory.ts";
import type { Tree } from "./tree.ts";

export function memoryIn(tree: Tree, user = "alice"): Files {
  const files = new Map<string, string>();
  const add = (folder: Tree, above: string): void => {
    for (const [name, what] of folder) {
      if (Buffer.isBuffer(what)) files.set(above + name, what.toString("utf8"));
      else add(what, `${above}${name}/`);
    }
  };
  const memory = below(tree, ["users", user, "memory"]);
  if (memory) add(memory, "");
  return files;
}

export function stagedIn(tree: Tree, user = "alice"): string[] {
  const own = below(tree, ["users", user, ".memcell"]);
  return own?.has("lock") ? Array.from(own.keys()).filter((name) => name.startsWith("staged-")) : [];
}

export function below(tree: Tree, path: readonly string[]): Tree | null {
  const [name, ...rest] = path;
  if (name === undefined) return tree;
  const found = tree.get(name);
  return found === undefined || Buffer.isBuffer(found) ? null : below(found, rest);
}
