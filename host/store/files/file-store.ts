/**
 * Users' memory as Markdown files: `users/<folder>/<scope>/<path>` below the data folder, and the host's own
 * `.memcell/` beside the scopes.
 *
 * For now the runtime's own order of a user's calls is all that holds a user, and a change set is applied file by file,
 * each whole by rename. A lock that other processes see belongs into `holdUser`, a durable commit into `#commit`.
 */
import { renameSync } from "node:fs";

import type { ListedFile } from "../../../shared/abi.ts";
import type { Change, ChangeSet } from "../../change-set.ts";
import { ToolError } from "../../tool-error.ts";
import type { UserId } from "../../user-id.ts";
import type { HeldUser, Store, UserReader } from "../store.ts";
import { UserFolder } from "./confine.ts";
import { failureOfDisk } from "./disk-failure.ts";
import { bytesBelow, listFiles } from "./list-files.ts";
import { claimOwner, checkOwner } from "./owner.ts";
import { readRegularFile, regularFileSize } from "./regular-file.ts";
import { writeWhole } from "./write-whole.ts";

export class FileStore implements Store {
  readonly #dataDir: string;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  openUser(userId: UserId): UserReader {
    return new FileReader(new UserFolder(this.#dataDir, userId), userId);
  }

  async holdUser<Result>(userId: UserId, work: (held: HeldUser) => Promise<Result>): Promise<Result> {
    return await work({ commit: async (changes) => this.#commit(userId, changes) });
  }

  #commit(userId: UserId, changes: ChangeSet): void {
    if (changes.length === 0) return;
    const folder = new UserFolder(this.#dataDir, userId);
    claimOwner(folder, userId);
    for (const change of changes) applyChange(folder, change);
  }
}

class FileReader implements UserReader {
  readonly #folder: UserFolder;
  /** Measured once: a reader serves one call, and meanwhile nobody else changes the user's scopes. */
  readonly #bytesUsed = new Map<string, number>();

  constructor(folder: UserFolder, userId: UserId) {
    checkOwner(folder, userId);
    this.#folder = folder;
  }

  read(scope: string, path: string): string | null {
    const place = this.#folder.find(scope, path);
    const bytes = place === null ? null : readRegularFile(place, path);
    return bytes === null ? null : decode(bytes, path);
  }

  list(scope: string, prefix: string): ListedFile[] {
    const place = this.#folder.findFolder(scope);
    return place === null ? [] : listFiles(place, prefix);
  }

  sizeOf(scope: string, path: string): number | null {
    const place = this.#folder.find(scope, path);
    return place === null ? null : regularFileSize(place, path);
  }

  bytesUsed(scope: string): number {
    let bytes = this.#bytesUsed.get(scope);
    if (bytes === undefined) {
      const place = this.#folder.findFolder(scope);
      bytes = place === null ? 0 : bytesBelow(place);
      this.#bytesUsed.set(scope, bytes);
    }
    return bytes;
  }
}

/** Bytes to text without loss: what is not UTF-8 is refused, and a byte order mark stays. */
function decode(bytes: Buffer, shown: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new ToolError("ENTRY_UNREADABLE", `Cannot read "${shown}": it is not UTF-8 text`, { cause: error });
  }
}

function applyChange(folder: UserFolder, change: Change): void {
  if (change.kind === "write") replaceFile(folder, change.scope, change.path, change.content);
  else moveToTrash(folder, change.scope, change.path, change.trashed);
}

function replaceFile(folder: UserFolder, scope: string, path: string, content: string): void {
  const target = folder.make(scope, path);
  regularFileSize(target, path);
  writeWhole(folder, target, content, path);
}

function moveToTrash(folder: UserFolder, scope: string, path: string, trashed: string): void {
  const source = folder.make(scope, path);
  const target = folder.make(scope, trashed);
  if (regularFileSize(source, path) === null) {
    throw new ToolError("STORAGE_FAILED", `Cannot trash "${path}": it is gone`);
  }
  if (regularFileSize(target, trashed) !== null) {
    throw new ToolError("STORAGE_FAILED", `Cannot trash "${path}": "${trashed}" has come into being meanwhile`);
  }
  try {
    renameSync(source, target);
  } catch (error) {
    throw failureOfDisk(error, `trash "${path}"`);
  }
}
