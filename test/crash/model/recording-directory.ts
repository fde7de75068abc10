import type { Directory, DirectoryEntry, DiskFile } from "../../../host/store/files/disk/directory.ts";
import type { DiskNode } from "./effect.ts";
import { RecordingFile } from "./recording-file.ts";
import type { Recording } from "./recording.ts";

/** A real folder, whose changes are written down. */
export class RecordingDirectory implements Directory {
  readonly #recording: Recording;
  readonly #real: Directory;
  readonly #id: number;
  readonly #name: string;

  constructor(recording: Recording, real: Directory, { id, name }: { id: number; name: string }) {
    this.#recording = recording;
    this.#real = real;
    this.#id = id;
    this.#name = name;
  }

  get identity(): string {
    return this.#real.identity;
  }

  openFolder(name: string): Directory | null {
    const real = this.#real.openFolder(name);
    return real && new RecordingDirectory(this.#recording, real, { id: this.#node(name).id, name });
  }

  makeFolder(name: string): Directory {
    const isThere = this.#recording.disk.find(this.#id, name) !== undefined;
    const real = this.#real.makeFolder(name);
    if (!isThere) this.#set(name, this.#recording.disk.newNode("folder"));
    return new RecordingDirectory(this.#recording, real, { id: this.#node(name).id, name });
  }

  entries(): DirectoryEntry[] {
    return this.#real.entries();
  }

  identityOf(name: string): string | null {
    return this.#real.identityOf(name);
  }

  sizeOf(name: string, shown: string): number | null {
    return this.#real.sizeOf(name, shown);
  }

  bytesOf(name: string): number | null {
    return this.#real.bytesOf(name);
  }

  read(name: string, shown: string): Buffer | null {
    return this.#real.read(name, shown);
  }

  create(name: string, content: Uint8Array, shown: string): void {
    this.#real.create(name, content, shown);
    const node = this.#recording.disk.newNode("file");
    this.#set(name, node);
    this.#recording.add({ kind: "write", file: node.id, at: 0, bytes: Buffer.from(content) });
  }

  openFile(name: string, shown: string, mode: Parameters<Directory["openFile"]>[2]): DiskFile | null {
    const real = this.#real.openFile(name, shown, mode);
    if (real === null) return null;
    const isThere = mode !== "make" || this.#recording.disk.find(this.#id, name) !== undefined;
    if (!isThere) this.#set(name, this.#recording.disk.newNode("file"));
    return new RecordingFile(this.#recording, real, { id: this.#node(name).id, name });
  }

  rename(name: string, to: Directory, newName: string): void {
    if (!(to instanceof RecordingDirectory))
      throw new TypeError("A recorded folder's file can only go to a recorded one");
    this.#real.rename(name, to.#real, newName);
    const node = this.#node(name);
    this.#recording.add({
      kind: "names",
      changes: [
        { folder: this.#id, name, node: null },
        { folder: to.#id, name: newName, node },
      ],
    });
  }

  remove(name: string): void {
    this.#real.remove(name);
    this.#set(name, null);
  }

  async flush(): Promise<void> {
    await this.#recording.flush({ kind: "folder", id: this.#id }, this.#name);
  }

  [Symbol.dispose](): void {
    this.#real[Symbol.dispose]();
  }

  #set(name: string, node: DiskNode | null): void {
    this.#recording.add({ kind: "names", changes: [{ folder: this.#id, name, node }] });
  }

  #node(name: string): DiskNode {
    const node = this.#recording.disk.find(this.#id, name);
    if (!node) throw new RangeError(`"${name}" is on the disk, but not in the recording`);
    return node;
  }
}
