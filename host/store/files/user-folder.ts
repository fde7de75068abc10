/**
 * Opens a user's folder; `ScopeFolders` then opens what is below it. The security core of the store: nothing else walks
 * through users' folders.
 *
 * Every walk starts at the data folder, opens one folder after another and refuses links, so it ends in this user's
 * folder or nowhere. Each call walks again: a folder that was renamed away meanwhile is not used again.
 *
 * A mounted folder stands for one scope of one user. It is the user's folder, which contains the host's own, and also
 * the scope's folder.
 */
import { createHash } from "node:crypto";

import { storeLimits } from "../../../shared/limits.ts";
import { createOverLeftover } from "../../disk/create-over-leftover.ts";
import type { DataRoot } from "../../disk/data-root.ts";
import type { Directory } from "../../disk/directory.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { UserId } from "../../values/user-id.ts";
import { hideFromGit } from "./hide-from-git.ts";
import { foldsCase, twinOf } from "./scope-folders.ts";
import { settleAll } from "./settle-all.ts";

/** The host's own folder beside the scopes. Its name fits no scope, so no guest can reach it. */
export const hostFolder = ".memcell";

export const usersFolder = "users";

/** A user, and the root to walk from. */
export interface UserHome {
  readonly root: DataRoot;
  readonly userId: UserId;
  /** The one scope that the root itself stands for; `null` for a data folder. */
  readonly mountedScope: string | null;
}

/**
 * The folders from the root to the user's, each held open. A held folder stays the same, whatever becomes of its path.
 */
export class UserFolder implements Disposable {
  /** The user's folder, which contains the host's own. */
  readonly user: Directory;
  readonly #root: DataRoot;
  /** The names below the root; the last is that of the host's own folder. */
  readonly #names: readonly string[];
  /** The root, then one folder for each name. The last is missing until `openOwn` opens it. */
  readonly #folders: Directory[];

  private constructor(root: DataRoot, names: readonly string[], folders: Directory[]) {
    const user = folders.at(-1);
    if (user === undefined) throw new RangeError("A way to a user's folder has at least one folder");
    this.#root = root;
    this.#names = names;
    this.#folders = folders;
    this.user = user;
  }

  /** `null` when the user has no folder. */
  static open(home: UserHome): UserFolder | null {
    const names = namesTo(home);
    const folders = walk(home.root.open(), names, (folder, name) => folder.openFolder(name));
    if (folders.length > names.length) return new UserFolder(home.root, [...names, hostFolder], folders);
    closeAll(folders);
    return null;
  }

  /** Makes the host's own folder and all folders above it. Durable once they are opened and flushed. */
  static async make(home: UserHome): Promise<void> {
    closeAll(walk(await home.root.make(), [...namesTo(home), hostFolder], (folder, name) => folder.makeFolder(name)));
  }

  /** Opens the host's own folder and holds it open; `null` if there is none. */
  openOwn(): Directory | null {
    const at = this.#names.length;
    const own = this.#folders[at] ?? this.user.openFolder(hostFolder);
    if (own !== null) this.#folders[at] = own;
    return own;
  }

  /** Closes all folders but the user's, which the caller must close. */
  keepUser(): Directory {
    for (const folder of this.#folders) if (folder !== this.user) folder[Symbol.dispose]();
    return this.user;
  }

  /** Whether a new walk from the root's path would find the same folders. */
  isUnchanged(): boolean {
    return this.#folders.every((folder, at) => {
      const above = this.#folders[at - 1];
      return (above ? above.identityOf(this.#names[at - 1] ?? "") : this.#root.identityNow()) === folder.identity;
    });
  }

  /** Makes the names in these folders durable. */
  async flush(): Promise<void> {
    await settleAll(this.#folders.map((folder) => folder.flush()));
  }

  [Symbol.dispose](): void {
    closeAll(this.#folders);
  }
}

/** The names that lead from the root to the user's folder. */
function namesTo({ userId, mountedScope }: UserHome): readonly string[] {
  return mountedScope === null ? [usersFolder, userFolderName(userId)] : [];
}

/** The folders from a root on, as far as they exist. */
function walk(
  root: Directory | null,
  names: readonly string[],
  step: (folder: Directory, name: string) => Directory | null,
): Directory[] {
  const folders: Directory[] = [];
  try {
    let next = root;
    for (const name of names) {
      if (next === null) return folders;
      folders.push(next);
      next = step(next, name);
    }
    return next === null ? folders : [...folders, next];
  } catch (error) {
    closeAll(folders);
    throw error;
  }
}

function closeAll(folders: readonly Directory[]): void {
  for (const folder of folders) folder[Symbol.dispose]();
}

/** Device names on Windows, with any ending. Windows cannot create such a folder. */
const deviceName = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/i;

/**
 * The name of a user's folder: different ids never share one.
 *
 * Characters outside `[A-Za-z0-9._@-]` are percent-encoded byte by byte, as is a dot at either end and the first
 * character of a device's name. If the encoded id is too long for a file system, it is cut and ends in `%~` and the
 * id's SHA-256. No percent-encoding contains `%~`, so no other id has such a name.
 */
export function userFolderName(userId: UserId): string {
  const characters = Array.from(userId);
  const isDevice = deviceName.test(userId);
  const encoded = characters
    .map((character, at) => {
      const isEnd = at === 0 || at === characters.length - 1;
      return (isEnd && character === ".") || (isDevice && at === 0) ? percent(character) : encode(character);
    })
    .join("");
  if (encoded.length <= storeLimits.folderNameBytesMax) return encoded;
  const digest = createHash("sha256").update(userId).digest("hex");
  const mark = `%~${digest}`;
  return encoded.slice(0, storeLimits.folderNameBytesMax - mark.length) + mark;
}

const encode = (character: string): string => (/^[A-Za-z0-9._@-]$/.test(character) ? character : percent(character));

function percent(character: string): string {
  return Array.from(Buffer.from(character), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");
}

/**
 * Records the exact id of the folder's owner, in the host's own folder.
 *
 * Folder names differ for different ids. But on a disk that folds case, two ids that differ only in case would share a
 * folder: the record keeps the second user out. A mounted folder is not named after its user, so there only the record
 * keeps out another user of another host.
 */
const ownerFile = "owner";

/**
 * Whether a folder records this user as its owner. Throws `STORAGE_UNSAFE` if it belongs to another. `own` is the
 * `.memcell` in it, or `null` if there is none.
 */
export function checkOwner(own: Directory | null, home: UserHome): boolean {
  const record = own?.read(ownerFile, ownerFile) ?? null;
  if (record === null) {
    // A folder without a record was made by hand. It is the user's if its name matches exactly.
    if (!hasExactName(home)) throw belongsToAnother(home);
    return false;
  }
  if (record.toString("utf8") !== home.userId) throw belongsToAnother(home);
  return true;
}

/** As `checkOwner`, but records the owner if there is no record. Durable once `own` is flushed. */
export async function claimOwner(own: Directory, home: UserHome): Promise<void> {
  if (checkOwner(own, home)) return;
  if (home.mountedScope !== null) hideFromGit(own);
  const staged = "staged-owner";
  createOverLeftover(own, staged, { content: Buffer.from(home.userId), shown: ownerFile });
  {
    using file = own.openFile(staged, ownerFile, "write");
    await file?.flush();
  }
  own.rename(staged, own, ownerFile);
}

/** `false` if the disk folds case and the folder found under this name is another id's. */
function hasExactName({ root, userId, mountedScope }: UserHome): boolean {
  if (mountedScope !== null) return true;
  using data = root.open();
  if (data === null || !foldsCase(data, usersFolder)) return true;
  using users = data.openFolder(usersFolder);
  return users === null || twinOf(users, userFolderName(userId)) === null;
}

function belongsToAnother({ mountedScope }: UserHome): ToolError {
  const shown = mountedScope === null ? "the user's folder" : "the mounted folder";
  return new ToolError("STORAGE_UNSAFE", `Cannot open ${shown}: it belongs to another user id`);
}
