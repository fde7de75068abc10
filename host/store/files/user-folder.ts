/**
 * From a user to their open folder, and with `ScopeFolders` on to one name in it. The security heart of the store: nothing
 * else walks through users' folders.
 *
 * Every walk starts at the data folder, opens one folder after the other and refuses links, so it ends in this user's
 * folder or nowhere. It is made anew for each call: a folder that was renamed away meanwhile is not used again.
 *
 * A mounted folder stands for one scope of one user. It is then both: the folder in which the host's own lies, and the
 * scope's.
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

/** Whose folder it is, and from where to walk. */
export interface UserHome {
  readonly root: DataRoot;
  readonly userId: UserId;
  /** The one scope that the root itself stands for; `null` for a data folder. */
  readonly mountedScope: string | null;
}

/** The folders from the root to the user's, each held open. Held folders stay what they are, whatever becomes of their path. */
export class UserFolder implements Disposable {
  /** The user's folder, in which the host's own lies. */
  readonly user: Directory;
  readonly #root: DataRoot;
  /** From the root on, that of the host's own folder last. */
  readonly #names: readonly string[];
  /** The root, then one for each name; the last is missing until it is asked for. */
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

  /** Makes the folders that lead to the host's own, and that one. Durable once they are opened and flushed. */
  static async make(home: UserHome): Promise<void> {
    closeAll(walk(await home.root.make(), [...namesTo(home), hostFolder], (folder, name) => folder.makeFolder(name)));
  }

  /** The host's own folder, held open from the first time on; `null` when there is none. */
  openOwn(): Directory | null {
    const at = this.#names.length;
    const own = this.#folders[at] ?? this.user.openFolder(hostFolder);
    if (own !== null) this.#folders[at] = own;
    return own;
  }

  /** Closes all but the user's folder, which is the caller's from then on. */
  keepUser(): Directory {
    for (const folder of this.#folders) if (folder !== this.user) folder[Symbol.dispose]();
    return this.user;
  }

  /** Whether a fresh walk from the root's path would end in these very folders. */
  isUnchanged(): boolean {
    return this.#folders.every((folder, at) => {
      const above = this.#folders[at - 1];
      return (above ? above.identityOf(this.#names[at - 1] ?? "") : this.#root.identityNow()) === folder.identity;
    });
  }

  /** Makes durable which names these folders hold. */
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

/** The folders from a root on, as far as they are there. */
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

/** Names of devices on Windows, with any ending. No folder of such a name can be made there. */
const deviceName = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/i;

/**
 * The folder of a user: distinct ids never share one.
 *
 * Characters outside `[A-Za-z0-9._@-]` are percent-encoded byte by byte, as is a dot at either end and the first
 * character of a device's name. An id whose encoding would be longer than a file system's name goes on with `%~` and its
 * SHA-256 instead; `%~` begins no percent-encoding, so such a name is no other id's.
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
 * Where the exact id is that a user's folder belongs to, in the host's own folder.
 *
 * Folder names already differ for different ids, but on a disk that folds case two ids that differ by case would meet
 * in one folder. The record keeps the second one out. A mounted folder has no name of ours at all: there the record alone
 * keeps another user of another host out.
 */
const ownerFile = "owner";

/**
 * Refuses a folder that records another owner; tells whether it records this one. `own` is the `.memcell` in it, or `null`
 * when there is none.
 */
export function checkOwner(own: Directory | null, home: UserHome): boolean {
  const record = own?.read(ownerFile, ownerFile) ?? null;
  if (record === null) {
    // A folder without a record was made by hand, and is the user's when its name is, letter by letter.
    if (!hasExactName(home)) throw belongsToAnother(home);
    return false;
  }
  if (record.toString("utf8") !== home.userId) throw belongsToAnother(home);
  return true;
}

/** As `checkOwner`, and records the owner when nobody has. Durable once `own` is flushed. */
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

/** `false` where a disk that folds case shows another id's folder under this one's name. */
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
