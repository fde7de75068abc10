/** A disk of folders and files that tracks which changes are durable, and so which states a crash may leave. */
import type { DiskNode, Effect, NameChange } from "./effect.ts";
import { ModelledFile } from "./modelled-file.ts";
import type { Tree } from "./tree.ts";

export interface ModelledFolder {
  /** The names that the system shows. */
  readonly present: Map<string, DiskNode>;
  /** The names that are certainly on the disk. */
  readonly durable: Map<string, DiskNode>;
  /** The changes that no flush covers yet, in order. A crash keeps some of them. */
  pending: { readonly count: number; readonly changes: readonly NameChange[] }[];
}

const newFolder = (): ModelledFolder => ({ present: new Map(), durable: new Map(), pending: [] });

export class ModelledDisk {
  readonly folders = new Map<number, ModelledFolder>([[0, newFolder()]]);
  readonly files = new Map<number, ModelledFile>();
  /** The number of effects so far. */
  count = 0;
  #nextId = 1;

  /** A disk after a restart: everything on it is durable. */
  static holding(tree: Tree): ModelledDisk {
    const disk = new ModelledDisk();
    disk.#fill(0, tree);
    return disk;
  }

  clone(): ModelledDisk {
    const copy = new ModelledDisk();
    for (const [id, { present, durable, pending }] of this.folders) {
      copy.folders.set(id, { present: new Map(present), durable: new Map(durable), pending: [...pending] });
    }
    for (const [id, file] of this.files) copy.files.set(id, file.clone());
    copy.count = this.count;
    copy.#nextId = this.#nextId;
    return copy;
  }

  /** The number of changes that a power cut can still take back. */
  get unsettled(): number {
    const names = Array.from(this.folders.values(), ({ pending }) => pending.length);
    const contents = Array.from(this.files.values(), ({ isDurable }) => (isDurable ? 0 : 1));
    return [...names, ...contents].reduce((sum, each) => sum + each, 0);
  }

  newNode(kind: DiskNode["kind"]): DiskNode {
    return { kind, id: this.#nextId };
  }

  find(folder: number, name: string): DiskNode | undefined {
    return this.folder(folder).present.get(name);
  }

  folder(id: number): ModelledFolder {
    const folder = this.folders.get(id);
    if (!folder) throw new RangeError(`No folder ${id} on the modelled disk`);
    return folder;
  }

  file(id: number): ModelledFile {
    const file = this.files.get(id);
    if (!file) throw new RangeError(`No file ${id} on the modelled disk`);
    return file;
  }

  apply(effect: Effect): void {
    const count = this.count++;
    if (effect.kind === "names") this.#rename(count, effect.changes);
    else if (effect.kind === "write") this.file(effect.file).write(count, effect.at, effect.bytes);
    else if (effect.kind === "truncate") this.file(effect.file).truncate(count, effect.bytes);
    else if (effect.kind === "flush") this.#flush(effect);
    else if (effect.kind === "person") this.#save(effect.path, effect.content);
  }

  #rename(count: number, changes: readonly NameChange[]): void {
    for (const { folder, name, node } of changes) {
      if (node) this.#know(node);
      setName(this.folder(folder).present, name, node);
    }
    for (const folder of new Set(changes.map((each) => each.folder))) {
      this.folder(folder).pending.push({ count, changes: changes.filter((each) => each.folder === folder) });
    }
  }

  #flush({ node, upTo, isOk }: Extract<Effect, { kind: "flush" }>): void {
    if (node.kind === "file") return this.file(node.id).flush(upTo, isOk);
    // A file system keeps names that it could not write and tries again. It gives up only data.
    if (!isOk) return;
    const folder = this.folder(node.id);
    for (const { count, changes } of folder.pending) {
      if (count < upTo) for (const { name, node: to } of changes) setName(folder.durable, name, to);
    }
    folder.pending = folder.pending.filter(({ count }) => count >= upTo);
  }

  /** The folders on the way become durable as well, each under its own name only. */
  #save(path: readonly string[], content: Buffer | null): void {
    let at = 0;
    for (const name of path.slice(0, -1)) {
      const node = this.find(at, name) ?? this.newNode("folder");
      this.#know(node);
      this.#settle(at, name, node);
      at = node.id;
    }
    const node = content && this.newNode("file");
    if (node) this.#know(node, content);
    this.#settle(at, path.at(-1) ?? "", node);
  }

  #settle(at: number, name: string, node: DiskNode | null): void {
    const folder = this.folder(at);
    setName(folder.present, name, node);
    setName(folder.durable, name, node);
    folder.pending = folder.pending.map(({ count, changes }) => ({
      count,
      changes: changes.filter((change) => change.name !== name),
    }));
  }

  #know({ kind, id }: DiskNode, content?: Buffer): void {
    this.#nextId = Math.max(this.#nextId, id + 1);
    if (kind === "folder" && !this.folders.has(id)) this.folders.set(id, newFolder());
    if (kind === "file" && !this.files.has(id)) this.files.set(id, new ModelledFile(content));
  }

  #fill(at: number, tree: Tree): void {
    for (const [name, what] of tree) {
      const isFile = Buffer.isBuffer(what);
      const node = this.newNode(isFile ? "file" : "folder");
      this.#know(node, isFile ? what : undefined);
      this.#settle(at, name, node);
      if (!isFile) this.#fill(node.id, what);
    }
  }
}

function setName(names: Map<string, DiskNode>, name: string, node: DiskNode | null): void {
  if (node) names.set(name, node);
  else names.delete(name);
}
