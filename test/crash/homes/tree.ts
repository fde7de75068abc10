/** Folders and files as plain values, and as a real folder. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { memoryDisk } from "../../support/temporary-folder.ts";

export type Tree = ReadonlyMap<string, Tree | Buffer>;

/** Contents by the keys of a subject. */
export type Files = ReadonlyMap<string, string>;

export function writeTree(tree: Tree, path: string): void {
  mkdirSync(path, { recursive: true });
  for (const [name, what] of tree) {
    if (Buffer.isBuffer(what)) writeFileSync(join(path, name), what);
    else writeTree(what, join(path, name));
  }
}

/** Empty if the folder is not there. */
export function readTree(path: string): Tree {
  if (!existsSync(path)) return new Map();
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

/** The model creates thousands of folders, so it uses a file system in memory if there is one. */
export function memoryFolder(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(memoryDisk(), "memcell-model-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
