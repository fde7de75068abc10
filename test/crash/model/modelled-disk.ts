/** A disk of folders and files that tracks which changes are durable, and so which states a crash may leave. */
import { ModelledFile } from "./modelled-file.ts";
import type { FileTimes } from "./modelled-file.ts";

/** Identified by a number, because names can move. */
export interface DiskNode {
  readonly kind: "file" | "folder";
  readonly id: number;
}

/** A folder gets, changes or loses a name. */
export interface NameChange {
  readonly folder: number;
  readonly name: string;
  readonly node: DiskNode | null;
}

export type Effect =
  /** Survives a crash as a whole or not at all: one name, or a rename within one folder. */
  | { readonly kind: "names"; readonly changes: readonly NameChange[] }
  | { readonly kind: "write"; readonly file: number; readonly at: number; readonly bytes: Buffer }
  | { readonly kind: "truncate"; readonly file: number; readonly bytes: number }
  /** Covers the effects before its request: those before `upTo` in the disk's own count. */
  | { readonly kind: "flush"; readonly node: DiskNode; readonly upTo: number; readonly isOk: boolean }
  /** A person saves or removes a file, and the editor flushes it: it survives every crash. */
  | {
      readonly kind: "person";
      readonly path: readonly string[];
      readonly content: Buffer | null;
      /** The file keeps the time of an old original, as from `cp -a` or `mv`. */
      readonly isOld: boolean;
    };

export interface ModelledFolder {
  /** The names that the system shows. */
  readonly present: Map<string, DiskNode>;
  /** The names that are certainly on the disk. */
  readonly durable: Map<string, DiskNode>;
  /** The changes that no flush covers yet, in order. A crash keeps some of them. */
  pending: { readonly count: number; readonly changes: readonly NameChange[] }[];
  /** When a name was last changed. */
  changedAt: number;
  /** The same, of the changes that are certainly on the disk. */
  durableAt: number;
}

const newFolder = (at = 0): ModelledFolder => ({
  present: new Map(),
  durable: new Map(),
  pending: [],
  changedAt: at,
  durableAt: at,
});

export class ModelledDisk {
  readonly folders = new Map<number, ModelledFolder>([[0, newFolder()]]);
  readonly files = new Map<number, ModelledFile>();
  /** The number of effects so far. */
  count = 0;
  #nextId = 1;

  /** An empty disk after a restart of a machine with another one, whose clock and numbers go on. */
  static startingAt(before: ModelledDisk, changedAt: number): ModelledDisk {
    const disk = new ModelledDisk();
    disk.count = before.count;
    disk.#nextId = before.#nextId;
    disk.folders.set(0, newFolder(changedAt));
    return disk;
  }

  /** Adds a folder that is durable, with the same number if that is free, and returns its number. */
  addFolder(at: number, name: string, { id, changedAt }: { readonly id: number; readonly changedAt: number }): number {
    const node = this.folders.has(id) ? this.newNode("folder") : ({ kind: "folder", id } as const);
    this.#know(node);
    this.#setBoth(at, name, node);
    Object.assign(this.folder(node.id), { changedAt, durableAt: changedAt });
    return node.id;
  }

  /** Adds a file that is durable. */
  addFile(
    at: number,
    name: string,
    { id, content, times }: { readonly id: number; readonly content: Buffer; readonly times: FileTimes },
  ): void {
    // Half a rename between two folders can leave two names. They count as two files.
    const node = this.files.has(id) ? this.newNode("file") : ({ kind: "file", id } as const);
    this.#know(node);
    this.files.set(node.id, new ModelledFile(content, times));
    this.#setBoth(at, name, node);
  }

  clone(): ModelledDisk {
    const copy = new ModelledDisk();
    for (const [id, { present, durable, pending, ...times }] of this.folders) {
      copy.folders.set(id, { present: new Map(present), durable: new Map(durable), pending: [...pending], ...times });
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
    else if (effect.kind === "person") this.#save(count, effect);
  }

  #rename(count: number, changes: readonly NameChange[]): void {
    for (const { folder, name, node } of changes) {
      if (node) this.#know(node);
      if (node?.kind === "file") this.file(node.id).times = { ...this.file(node.id).times, changedAt: count };
      setName(this.folder(folder).present, name, node);
    }
    for (const folder of new Set(changes.map((each) => each.folder))) {
      this.folder(folder).pending.push({ count, changes: changes.filter((each) => each.folder === folder) });
      this.folder(folder).changedAt = count;
    }
  }

  #flush({ node, upTo, isOk }: Extract<Effect, { kind: "flush" }>): void {
    if (node.kind === "file") return this.file(node.id).flush(upTo, isOk);
    // A file system keeps names that it could not write and tries again. It gives up only data.
    if (!isOk) return;
    const folder = this.folder(node.id);
    for (const { count, changes } of folder.pending) {
      if (count >= upTo) continue;
      for (const { name, node: to } of changes) setName(folder.durable, name, to);
      folder.durableAt = count;
    }
    folder.pending = folder.pending.filter(({ count }) => count >= upTo);
  }

  /** The folders on the way become durable as well, each under its own name only. */
  #save(count: number, { path, content, isOld }: Extract<Effect, { kind: "person" }>): void {
    let at = 0;
    for (const name of path.slice(0, -1)) {
      const node = this.find(at, name) ?? this.newNode("folder");
      this.#settle(count, at, name, node);
      at = node.id;
    }
    const node = content && this.newNode("file");
    this.#settle(count, at, path.at(-1) ?? "", node);
    if (node) this.files.set(node.id, new ModelledFile(content, { writtenAt: isOld ? 0 : count, changedAt: count }));
  }

  /** The folder's time is on the disk once its earlier changes are. */
  #settle(count: number, at: number, name: string, node: DiskNode | null): void {
    if (node) this.#know(node);
    const folder = this.folder(at);
    const isChanged = folder.present.get(name) !== node;
    this.#setBoth(at, name, node);
    folder.pending = folder.pending.map((each) => ({
      count: each.count,
      changes: each.changes.filter((change) => change.name !== name),
    }));
    if (!isChanged) return;
    folder.changedAt = count;
    folder.pending.push({ count, changes: [] });
  }

  #setBoth(at: number, name: string, node: DiskNode | null): void {
    const folder = this.folder(at);
    setName(folder.present, name, node);
    setName(folder.durable, name, node);
  }

  #know({ kind, id }: DiskNode): void {
    this.#nextId = Math.max(this.#nextId, id + 1);
    if (kind === "folder" && !this.folders.has(id)) this.folders.set(id, newFolder());
    if (kind === "file" && !this.files.has(id)) this.files.set(id, new ModelledFile());
  }
}

function setName(names: Map<string, DiskNode>, name: string, node: DiskNode | null): void {
  if (node) names.set(name, node);
  else names.delete(name);
}
