/** Folders and files as plain values, and as a real folder. */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export type Tree = ReadonlyMap<string, Tree | Buffer>;

export function writeTree(tree: Tree, path: string): void {
  mkdirSync(path, { recursive: true });
  for (const [name, what] of tree) {
    if (Buffer.isBuffer(what)) writeFileSync(join(path, name), what);
    else writeTree(what, join(path, name));
  }
}

export function readTree(path: string): Tree {
  const names = readdirSync(path, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return new Map(
    names.map((each): [string, Tree | Buffer] => {
      const at = join(path, each.name);
      return [each.name, each.isDirectory() ? readTree(at) : readFileSync(at)];
    }),
  );
}

/** Returns the same text for the same tree. */
export function treeKey(tree: Tree): string {
  const hash = createHash("sha1");
  const add = (each: Tree): void => {
    for (const [name, what] of Array.from(each).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      hash.update(`${name}\0${Buffer.isBuffer(what) ? what.length : "/"}\0`);
      if (Buffer.isBuffer(what)) hash.update(what);
      else add(what);
    }
    hash.update("\0\0");
  };
  add(tree);
  return hash.digest("hex");
}
