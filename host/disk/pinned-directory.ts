/**
 * Folders that are held open, on a real disk. Only this file gives the names in a user's folder to the file system.
 *
 * On Linux every access goes through `/proc/self/fd/<descriptor>/<name>`, which works like `openat`: the kernel starts
 * at the open folder, and the flags refuse a link under the name itself. On other systems Node offers nothing like it:
 * before each access, the folder's path must still lead to the same folder (`folder-handle.ts`). A local attacker can
 * race this check.
 */
import {
  closeSync,
  existsSync,
  fstatSync,
  fsync,
  fsyncSync,
  lstatSync,
  readdirSync,
  renameSync,
  rmdirSync,
  statSync,
  unlinkSync,
} from "node:fs";
import type { BigIntStats } from "node:fs";
import { basename, dirname } from "node:path";
import { promisify } from "node:util";

import { ToolError } from "../values/tool-error.ts";
import type { EndSignal } from "../values/turns.ts";
import type {
  Directory,
  DirectoryEntry,
  DiskFile,
  FileStamp,
  FileUse,
  LeftEntry,
  Measured,
  MeasuredTree,
  StampedFile,
} from "./directory.ts";
import { failureOfDisk, failureOfFile, isMissing, systemCode } from "./disk-failure.ts";
import {
  checkComponent,
  checkDescriptors,
  diskIn,
  handleKindHere,
  identityOf,
  makeFolderIn,
  openHandedFolder,
  openRootFolder,
  permissionsFrom,
  permit,
} from "./folder-handle.ts";
import type { FolderHandle, HandedFolder, HandleKind, Permissions } from "./folder-handle.ts";
import { measureTree, removeTree } from "./folder-tree.ts";
import { giveName, nameOnDisk, withEncodedNames } from "./names-on-disk.ts";
import { exchangeNames } from "./native-calls.ts";
import {
  checkPlainFile,
  checkRegularFile,
  inUs,
  isPlainFile,
  measuredFrom,
  openNew,
  openPinned,
  stampFrom,
  timesOfDisk,
  writeFrom,
} from "./pinned-file.ts";
import type { StampFacts, TimesOfDisk } from "./pinned-file.ts";

const flushNames = promisify(fsync);

/** The folders above those of scopes: the data folder, that of all users or of all stores, and a home. */
const levelsAboveScopes = 3;

export class PinnedDirectory implements Directory {
  readonly #handle: FolderHandle;
  /** In this many levels, from this one on, names are the disk's own: those of users' folders have `%` in them. */
  readonly #ownNames: number;
  readonly #check: (name: string) => string;
  #times: TimesOfDisk | null = null;

  /** `check` throws for a name that must not reach the disk. */
  constructor(handle: FolderHandle, ownNames = 0, check: (name: string) => string = checkComponent) {
    this.#handle = handle;
    this.#ownNames = ownNames;
    this.#check = check;
  }

  get identity(): string {
    return this.#try("open the user's folder", () => this.#handle.identity);
  }

  get handed(): HandedFolder | null {
    return this.#handle.isHeldOpen ? { descriptor: this.#handle.descriptor, identity: this.identity } : null;
  }

  get namesChangedUs(): number {
    return this.#try("open the user's folder", () =>
      inUs(fstatSync(this.#handle.descriptor, { bigint: true }).mtimeNs),
    );
  }

  get permissions(): Permissions {
    return this.#try("open the user's folder", () => permissionsFrom(statSync(this.#handle.itself())));
  }

  get disk(): string {
    return diskIn(this.identity);
  }

  openFolder(name: string): Directory | null {
    try {
      return new PinnedDirectory(this.#handle.openChild(this.#nameOf(name)), Math.max(0, this.#ownNames - 1));
    } catch (error) {
      if (isMissing(error)) return null;
      throw failureOfDisk(error, "open the user's folder");
    }
  }

  identityOf(name: string): string | null {
    const facts = this.#factsOf("open the user's folder", name);
    return facts ? identityOf(facts) : null;
  }

  makeFolder(name: string, like: Permissions | null = null): Directory {
    this.#try("make the user's folder", () => makeFolderIn(this.#handle, this.#nameOf(name), like));
    const made = this.openFolder(name);
    if (made === null) throw new ToolError("STORAGE_FAILED", "Cannot make the user's folder: it has gone meanwhile");
    return made;
  }

  entries(): DirectoryEntry[] {
    const found = this.#try("list files", () =>
      readdirSync(this.#handle.itself(), { withFileTypes: true }).map((entry): DirectoryEntry => ({
        name: entry.name,
        kind: entry.isFile() ? "file" : entry.isDirectory() ? "folder" : "other",
      })),
    );
    return this.#ownNames > 0 ? found : withEncodedNames(found);
  }

  sizeOf(name: string, shown: string): number | null {
    try {
      const facts = lstatSync(this.#at(name), { bigint: true });
      checkPlainFile(facts, shown);
      return Number(facts.size);
    } catch (error) {
      if (isMissing(error)) return null;
      throw failureOfFile(error, shown);
    }
  }

  measure(name: string): Measured | null {
    const facts = this.#factsOf("list files", name);
    return facts ? measuredFrom(facts) : null;
  }

  read(name: string, shown: string): Buffer | null {
    using file = openPinned(this.#handle, () => this.#at(name), { shown, use: "read" });
    return file && file.read(0, file.size());
  }

  readStamped(name: string, shown: string): StampedFile | null {
    let stamp: FileStamp | null = null;
    const check = (facts: BigIntStats): void => {
      checkPlainFile(facts, shown);
      stamp = this.#stampFrom(facts);
    };
    using file = openPinned(this.#handle, () => this.#at(name), { shown, use: "read", check });
    return file && { content: file.read(0, file.size()), stamp };
  }

  stampOf(name: string): FileStamp | null {
    const facts = this.#factsOf("list files", name);
    return facts && isPlainFile(facts) ? this.#stampFrom(facts) : null;
  }

  #stampFrom(facts: StampFacts): FileStamp | null {
    this.#times ??= timesOfDisk(this.#handle.itself());
    // Something else can be mounted in a file's place.
    return String(facts.dev) === this.disk ? stampFrom(facts, this.#times) : null;
  }

  #factsOf(action: string, name: string): BigIntStats | undefined {
    return this.#try(action, () => lstatSync(this.#at(name), { bigint: true, throwIfNoEntry: false }));
  }

  permissionsOf(name: string): Permissions | null {
    const facts = this.#try("open the user's folder", () => lstatSync(this.#at(name), { throwIfNoEntry: false }));
    return facts?.isFile() ? permissionsFrom(facts) : null;
  }

  create(name: string, content: Uint8Array, shown: string, like: Permissions | null = null): void {
    this.#try(`write "${shown}"`, () => {
      const path = this.#at(name);
      const descriptor = openNew(this.#handle, path);
      try {
        writeFrom(descriptor, 0, content);
        if (like !== null) permit(descriptor, like);
      } finally {
        closeSync(descriptor);
      }
    });
  }

  openFile(name: string, shown: string, use: FileUse): DiskFile | null {
    const isAnyFile = use === "flush" || use === "lock";
    const check = (facts: BigIntStats): void =>
      isAnyFile ? checkRegularFile(facts, shown) : checkPlainFile(facts, shown, Infinity);
    return openPinned(this.#handle, () => this.#at(name), { shown, use, check });
  }

  rename(name: string, to: PinnedDirectory, newName: string): void {
    this.#try("move a file", () => renameSync(this.#at(name), to.#at(newName)));
  }

  giveName(listed: string, name: string): boolean {
    return this.#try("rename a file", () => giveName(this.#handle, listed, checkComponent(name)));
  }

  exchange(name: string, other: PinnedDirectory, otherName: string): boolean {
    if (!this.#handle.isHeldOpen) return false;
    return exchangeNames(this.#at(name), other.#at(otherName));
  }

  remove(name: string): void {
    this.#try("remove a file", () => unlinkSync(this.#at(name)));
  }

  removeFolder(name: string): void {
    this.#try("remove a folder", () => {
      try {
        rmdirSync(this.#at(name));
      } catch (error) {
        if (!["ENOTEMPTY", "EEXIST", "ENOENT"].includes(systemCode(error) ?? "")) throw error;
      }
    });
  }

  measureTree(): Promise<MeasuredTree[]> {
    return measureTree(this.#handle);
  }

  removeTree(signal?: EndSignal): Promise<LeftEntry[]> {
    return removeTree(this.#handle, signal);
  }

  async flush(): Promise<void> {
    // Windows cannot flush a folder; it keeps names on its own.
    if (process.platform === "win32") return;
    try {
      await flushNames(this.#handle.descriptor);
    } catch (error) {
      throw failureOfDisk(error, "flush the user's folder");
    }
  }

  flushNow(): void {
    if (process.platform !== "win32") this.#try("flush the user's folder", () => fsyncSync(this.#handle.descriptor));
  }

  [Symbol.dispose](): void {
    this.#handle[Symbol.dispose]();
  }

  /** The path of a name in this folder. */
  #at(name: string): string {
    return this.#handle.child(this.#nameOf(name));
  }

  /** A checked name as the disk has it. */
  #nameOf(name: string): string {
    if (this.#ownNames > 0 || !name.includes("%")) return this.#check(name);
    return nameOnDisk(this.#handle, name);
  }

  #try<Result>(action: string, work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      throw failureOfDisk(error, action);
    }
  }
}

/** Accepts every name that stays in its folder. */
function checkName(name: string): string {
  if (basename(name) === name && !["", ".", ".."].includes(name)) return name;
  throw new ToolError("CAPABILITY_DENIED", "Cannot use a name that is not one component of a path");
}

/** Opens a home that another thread of this process holds open; `null` if it does so no more. */
export function openHanded(handed: HandedFolder, isMount: boolean): Directory | null {
  const handle = openHandedFolder(handed);
  return handle && new PinnedDirectory(handle, isMount ? 0 : 1);
}

/** The data folder. It is opened again for each operation, so that a folder that was moved away is not written to. */
export interface DataRoot {
  /** `null` when there is none yet. */
  open(): Directory | null;
  /** The `identity` of the folder that is at the path now; `null` if there is none. */
  identityNow(): string | null;
  /**
   * The `identity` of what a path of names below the data folder leads to now, links followed; `null` if nothing is
   * there.
   */
  identityAt(names: readonly string[]): string | null;
  /** Opens the folder, after making it durably if there is none. */
  make(): Promise<Directory>;
}

export class DiskRoot implements DataRoot {
  readonly #path: string;
  readonly #kind: HandleKind;
  readonly #isExact: boolean;
  readonly #check: ((name: string) => string) | undefined;
  readonly #shown: string;

  constructor(path: string, kind: HandleKind = handleKindHere, isExact = false, check?: (name: string) => string) {
    if (kind === "descriptor") checkDescriptors();
    this.#path = path;
    this.#kind = kind;
    this.#isExact = isExact;
    this.#check = check;
    this.#shown = isExact ? "the mounted folder" : "the data folder";
  }

  /**
   * A folder that other programs use too. `path` must be resolved: a link that later replaces a part of it is refused
   * (`STORAGE_UNSAFE`).
   */
  static mounted(path: string, kind: HandleKind = handleKindHere): DiskRoot {
    return new DiskRoot(path, kind, true);
  }

  /** A folder in which the operator gives the names: a file there can have any name. */
  static ofOperator(path: string): DiskRoot {
    return new DiskRoot(path, handleKindHere, false, checkName);
  }

  open(): Directory | null {
    try {
      return this.#openAt(this.#path);
    } catch (error) {
      if (isMissing(error)) return null;
      throw failureOfDisk(error, `open ${this.#shown}`);
    }
  }

  identityNow(): string | null {
    return this.identityAt([]);
  }

  identityAt(names: readonly string[]): string | null {
    try {
      const facts = statSync([this.#path, ...names].join("/"), { bigint: true, throwIfNoEntry: false });
      return facts === undefined ? null : identityOf(facts);
    } catch (error) {
      throw failureOfDisk(error, `open ${this.#shown}`);
    }
  }

  async make(): Promise<Directory> {
    const found = this.open();
    if (found) return found;
    try {
      await this.#makeFolders(this.#path);
      return this.#openAt(this.#path);
    } catch (error) {
      throw failureOfDisk(error, `make ${this.#shown}`);
    }
  }

  /** One folder at a time: below some mount points Node's own recursion never ends. */
  async #makeFolders(path: string): Promise<void> {
    if (existsSync(path)) return;
    const above = dirname(path);
    await this.#makeFolders(above);
    using handle = openRootFolder(above, this.#kind, this.#isExact);
    makeFolderIn(handle, basename(path));
    await new PinnedDirectory(handle).flush();
  }

  #openAt(path: string): Directory {
    const handle = openRootFolder(path, this.#kind, this.#isExact);
    return new PinnedDirectory(handle, this.#isExact ? 0 : levelsAboveScopes, this.#check);
  }
}
