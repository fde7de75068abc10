/** Real folders and files that record their changes. What is not named here, the real one does. */
import { through } from "../homes/through.ts";
import type { openFiles } from "../store-under-test.ts";
import type { DiskNode, Effect, ModelledDisk, NameChange } from "./modelled-disk.ts";

/** Receives the effects of recorded folders and files. */
export interface EffectLog {
  /** The disk's present state. */
  readonly disk: ModelledDisk;
  add(effect: Effect): void;
  flush(node: DiskNode, name: string): Promise<void>;
  /** Throws if the disk is full. */
  refuseFull(): void;
}

export type DataRoot = Parameters<typeof openFiles>[0];
export type Directory = NonNullable<ReturnType<DataRoot["open"]>>;
type DiskFile = NonNullable<ReturnType<Directory["openFile"]>>;

/** Of the modelled disk: it stays the same after a crash, as an inode does. */
export const identityOf = ({ id }: DiskNode): string => `1:${id}`;

interface Recorded {
  readonly id: number;
  readonly real: Directory;
}

const known = new WeakMap<Directory, Recorded>();

function recordedAs(folder: Directory): Recorded {
  const found = known.get(folder);
  if (found === undefined) throw new TypeError("A recorded folder's file can only go to a recorded one");
  return found;
}

const notInModel = (): never => {
  throw new Error("No process of a model does this");
};

export function recordedFolder(
  log: EffectLog,
  real: Directory,
  { id, name: ownName }: { readonly id: number; readonly name: string },
): Directory {
  const nodeOf = (name: string, folder = id): DiskNode => {
    const node = log.disk.find(folder, name);
    if (!node) throw new RangeError(`"${name}" is on the disk, but not in the recording`);
    return node;
  };
  const isThere = (name: string): boolean => log.disk.find(id, name) !== undefined;
  const setAll = (...changes: NameChange[]): void => log.add({ kind: "names", changes });
  const set = (name: string, node: DiskNode | null): void => setAll({ folder: id, name, node });
  const opened = (name: string, folder: Directory): Directory =>
    recordedFolder(log, folder, { id: nodeOf(name).id, name });
  const folder: Directory = through(() => real, {
    handed: null,
    get identity() {
      return identityOf({ kind: "folder", id });
    },
    get namesChangedUs() {
      return log.disk.folder(id).changedAt;
    },
    openFolder: (name) => {
      const found = real.openFolder(name);
      return found && opened(name, found);
    },
    makeFolder: (name, like) => {
      const isNew = !isThere(name);
      const made = real.makeFolder(name, like);
      if (isNew) set(name, log.disk.newNode("folder"));
      return opened(name, made);
    },
    identityOf: (name) => {
      const node = log.disk.find(id, name);
      return node === undefined ? null : identityOf(node);
    },
    measure: (name) => {
      const measured = real.measure(name);
      const node = measured && nodeOf(name);
      if (node?.kind !== "file") return measured;
      const { changedAt: changedUs, writtenAt: writtenUs } = log.disk.file(node.id).times;
      return { ...measured, changedUs, writtenUs } as typeof measured;
    },
    readStamped: (name, shown) => {
      const stamp = folder.stampOf(name);
      const content = real.read(name, shown);
      return content && { content, stamp };
    },
    stampOf: (name) => {
      const measured = folder.measure(name);
      if (measured === null || !measured.isPlain) return null;
      const { bytes, changedUs, writtenUs } = measured;
      return { text: [nodeOf(name).id, bytes, changedUs, writtenUs].join(":"), bytes };
    },
    create: (name, content, shown, like) => {
      if (content.length > 0) log.refuseFull();
      real.create(name, content, shown, like);
      const node = log.disk.newNode("file");
      set(name, node);
      log.add({ kind: "write", file: node.id, at: 0, bytes: Buffer.from(content) });
    },
    openFile: (name, shown, use) => {
      const file = real.openFile(name, shown, use);
      if (file === null) return null;
      if (use === "make" && !isThere(name)) set(name, log.disk.newNode("file"));
      return recordedFile(log, file, { id: nodeOf(name).id, name });
    },
    rename: (name, to, newName) => {
      const target = recordedAs(to);
      real.rename(name, target.real, newName);
      const node = nodeOf(name);
      setAll({ folder: id, name, node: null }, { folder: target.id, name: newName, node });
    },
    exchange: (name, other, otherName) => {
      const target = recordedAs(other);
      if (!real.exchange(name, target.real, otherName)) return false;
      const [node, otherNode] = [nodeOf(name), nodeOf(otherName, target.id)];
      setAll({ folder: id, name, node: otherNode }, { folder: target.id, name: otherName, node });
      return true;
    },
    remove: (name) => {
      real.remove(name);
      set(name, null);
    },
    removeFolder: (name) => {
      real.removeFolder(name);
      if (real.identityOf(name) === null) set(name, null);
    },
    /** Name by name, because each is an effect. */
    removeTree: async () => {
      for (const { name, kind } of real.entries()) {
        if (kind !== "folder") {
          folder.remove(name);
          continue;
        }
        using below = folder.openFolder(name);
        await below?.removeTree();
        folder.removeFolder(name);
      }
      return [];
    },
    flush: () => log.flush({ kind: "folder", id }, ownName),
    flushNow: () => log.add({ kind: "flush", node: { kind: "folder", id }, upTo: log.disk.count, isOk: true }),
  });
  known.set(folder, { id, real });
  return folder;
}

function recordedFile(log: EffectLog, real: DiskFile, { id, name }: { id: number; name: string }): DiskFile {
  return through(() => real, {
    identity: identityOf({ kind: "file", id }),
    write: (at, bytes) => {
      if (at + bytes.length > real.size()) log.refuseFull();
      real.write(at, bytes);
      log.add({ kind: "write", file: id, at, bytes: Buffer.from(bytes) });
    },
    truncate: (bytes) => {
      if (bytes > real.size()) log.refuseFull();
      real.truncate(bytes);
      log.add({ kind: "truncate", file: id, bytes });
    },
    flush: async () => {
      // Throws on a closed file, like the real flush.
      real.size();
      await log.flush({ kind: "file", id }, name);
    },
    setWritten: notInModel,
    flushNow: notInModel,
  });
}
