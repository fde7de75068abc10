import type {
  Directory,
  DirectoryEntry,
  DiskFile,
  LeftEntry,
  Measured,
  MeasuredTree,
  StampedFile,
} from "../../../host/disk/directory.ts";
import type { FileStamp } from "../../../host/disk/file-stamp.ts";
import type { Permissions } from "../../../host/disk/permissions.ts";
import type { EffectLog } from "./effect-log.ts";
import type { DiskNode } from "./effect.ts";
import { RecordingFile } from "./recording-file.ts";

export const identityOf = ({ id }: DiskNode): string => `1:${id}`;

/** A real folder that records its changes. */
export class RecordingDirectory implements Directory {
  readonly handed = null;
  readonly #log: EffectLog;
  readonly #real: Directory;
  readonly #id: number;
  readonly #name: string;

  constructor(log: EffectLog, real: Directory, { id, name }: { id: number; name: string }) {
    this.#log = log;
    this.#real = real;
    this.#id = id;
    this.#name = name;
  }

  /** Of the modelled disk: it stays the same after a crash, as an inode does. */
  get identity(): string {
    return identityOf({ kind: "folder", id: this.#id });
  }

  get namesChangedUs(): number {
    return this.#log.disk.folder(this.#id).changedAt;
  }

  get disk(): string {
    return this.#real.disk;
  }

  get permissions(): Permissions {
    return this.#real.permissions;
  }

  openFolder(name: string): Directory | null {
    const real = this.#real.openFolder(name);
    return real && new RecordingDirectory(this.#log, real, { id: this.#node(name).id, name });
  }

  makeFolder(name: string, like?: Permissions | null): Directory {
    const isThere = this.#log.disk.find(this.#id, name) !== undefined;
    const real = this.#real.makeFolder(name, like);
    if (!isThere) this.#set(name, this.#log.disk.newNode("folder"));
    return new RecordingDirectory(this.#log, real, { id: this.#node(name).id, name });
  }

  entries(): DirectoryEntry[] {
    return this.#real.entries();
  }

  identityOf(name: string): string | null {
    const node = this.#log.disk.find(this.#id, name);
    return node === undefined ? null : identityOf(node);
  }

  sizeOf(name: string, shown: string): number | null {
    return this.#real.sizeOf(name, shown);
  }

  measure(name: string): Measured | null {
    const measured = this.#real.measure(name);
    const node = measured && this.#node(name);
    if (node?.kind !== "file") return measured;
    const { changedAt: changedUs, writtenAt: writtenUs } = this.#log.disk.file(node.id).times;
    return { ...measured, changedUs, writtenUs } as Measured;
  }

  read(name: string, shown: string): Buffer | null {
    return this.#real.read(name, shown);
  }

  readStamped(name: string, shown: string): StampedFile | null {
    const stamp = this.stampOf(name);
    const content = this.read(name, shown);
    return content && { content, stamp };
  }

  stampOf(name: string): FileStamp | null {
    const measured = this.measure(name);
    if (measured === null || !measured.isPlain) return null;
    const { bytes, changedUs, writtenUs } = measured;
    return { text: [this.#node(name).id, bytes, changedUs, writtenUs].join(":"), bytes };
  }

  permissionsOf(name: string): Permissions | null {
    return this.#real.permissionsOf(name);
  }

  create(name: string, content: Uint8Array, shown: string, like?: Permissions | null): void {
    this.#real.create(name, content, shown, like);
    const node = this.#log.disk.newNode("file");
    this.#set(name, node);
    this.#log.add({ kind: "write", file: node.id, at: 0, bytes: Buffer.from(content) });
  }

  openFile(name: string, shown: string, mode: Parameters<Directory["openFile"]>[2]): DiskFile | null {
    const real = this.#real.openFile(name, shown, mode);
    if (real === null) return null;
    const isThere = mode !== "make" || this.#log.disk.find(this.#id, name) !== undefined;
    if (!isThere) this.#set(name, this.#log.disk.newNode("file"));
    return new RecordingFile(this.#log, real, { id: this.#node(name).id, name });
  }

  rename(name: string, to: Directory, newName: string): void {
    if (!(to instanceof RecordingDirectory))
      throw new TypeError("A recorded folder's file can only go to a recorded one");
    this.#real.rename(name, to.#real, newName);
    const node = this.#node(name);
    this.#log.add({
      kind: "names",
      changes: [
        { folder: this.#id, name, node: null },
        { folder: to.#id, name: newName, node },
      ],
    });
  }

  exchange(name: string, other: Directory, otherName: string): boolean {
    if (!(other instanceof RecordingDirectory))
      throw new TypeError("A recorded folder's file can only be exchanged with a recorded one's");
    if (!this.#real.exchange(name, other.#real, otherName)) return false;
    const [node, otherNode] = [this.#node(name), other.#node(otherName)];
    this.#log.add({
      kind: "names",
      changes: [
        { folder: this.#id, name, node: otherNode },
        { folder: other.#id, name: otherName, node },
      ],
    });
    return true;
  }

  remove(name: string): void {
    this.#real.remove(name);
    this.#set(name, null);
  }

  removeFolder(name: string): void {
    this.#real.removeFolder(name);
    if (this.#real.identityOf(name) === null) this.#set(name, null);
  }

  measureTree(): Promise<MeasuredTree[]> {
    return this.#real.measureTree();
  }

  /** Name by name, because each is an effect. */
  async removeTree(): Promise<LeftEntry[]> {
    for (const { name, kind } of this.entries()) {
      if (kind !== "folder") {
        this.remove(name);
        continue;
      }
      using below = this.openFolder(name);
      await below?.removeTree();
      this.removeFolder(name);
    }
    return [];
  }

  async flush(): Promise<void> {
    await this.#log.flush({ kind: "folder", id: this.#id }, this.#name);
  }

  flushNow(): void {
    throw new Error("Nothing ends the process of a model");
  }

  [Symbol.dispose](): void {
    this.#real[Symbol.dispose]();
  }

  #set(name: string, node: DiskNode | null): void {
    this.#log.add({ kind: "names", changes: [{ folder: this.#id, name, node }] });
  }

  #node(name: string): DiskNode {
    const node = this.#log.disk.find(this.#id, name);
    if (!node) throw new RangeError(`"${name}" is on the disk, but not in the recording`);
    return node;
  }
}
