/**
 * A user's folder and own store are erased together, all or nothing. First the store gets a mark. Then the folder is
 * renamed, which decides: from then on a marked store is erased as well, whoever finds it first. Last the store is
 * renamed. So only a mark without a renamed folder is taken back.
 *
 * The mark is the store's turnstile under another name, because a full disk has no room for a new file. The new names
 * begin with a dot, so no user's folder and no store has one, and other programs' names that begin with a dot are not
 * like them.
 */
import { randomBytes } from "node:crypto";

import type { Directory } from "../../disk/directory.ts";
import { isMissing } from "../../disk/disk-failure.ts";
import type { DataRoot } from "../../disk/pinned-directory.ts";
import { isStoreId } from "../../values/ids.ts";
import type { StoreId } from "../../values/ids.ts";
import { ToolError, orInstead } from "../../values/tool-error.ts";
import type { ErasedUser } from "../engine.ts";
import { homePlaces, storesFolder, usersFolder } from "./home.ts";
import { openPlace } from "./scope-folders.ts";
import type { HomeFolder } from "./scope-folders.ts";
import { turnstileFile } from "./session-place.ts";
import type { SessionPlace } from "./session-place.ts";

/** The mark of a store that is about to be erased: a file in the host's own folder. */
export const eraseMark = "erasing";

export const isMarked = (own: Directory): boolean => own.identityOf(eraseMark) !== null;

/** Of a user's folder whose own store is perhaps still in its place. It has to follow. */
const followedMark = ".erasing.";
/** Of what is only to be removed. */
const apartMark = ".erased.";

export const followedName = ({ id }: ErasedUser): string => followedMark + id;
export const erasedName = ({ id }: ErasedUser): string => apartMark + id;

export function newErasedUser(store: StoreId, erasedMs: number): ErasedUser {
  return { store, erasedMs, id: `${store}.${Math.max(0, erasedMs)}.${randomBytes(4).toString("hex")}` };
}

/** Whom a name is left of; `null` for any other name. */
function readErasedName(name: string): { readonly erased: ErasedUser; readonly isFollowed: boolean } | null {
  const [, mark, id = "", store = "", ms] = pattern.exec(name) ?? [];
  if (!isStoreId(store)) return null;
  return { erased: { store, erasedMs: Number(ms), id }, isFollowed: mark === followedMark };
}

const pattern = /^(\.erasing\.|\.erased\.)(([0-9a-f-]{36})\.(\d{1,16})\.[0-9a-f]{8})$/;

/** What lies where homes are and is left of erased users; `path`: in the data folder. */
export function leftOfErased(
  root: DataRoot,
): { readonly path: string; readonly isFolder: boolean; readonly erased: ErasedUser }[] {
  return homePlaces.flatMap((place) => {
    using folder = openPlace(root, place);
    return (folder?.entries() ?? []).flatMap(({ name, kind }) => {
      const erased = readErasedName(name)?.erased;
      return erased ? [{ path: `${place}/${name}`, isFolder: kind === "folder", erased }] : [];
    });
  });
}

/** Marks a store that is held, durably. Returns `false` if it cannot have the mark. */
export async function markToErase(folder: HomeFolder): Promise<boolean> {
  const own = folder.openOwn();
  if (orInstead(() => own?.rename(turnstileFile, own, eraseMark), "refused") === "refused") return false;
  try {
    await own?.flush();
  } catch (error) {
    takeMarkBack(folder);
    throw error;
  }
  return own !== null;
}

export function takeMarkBack(folder: HomeFolder): void {
  const own = folder.openOwn();
  if (own !== null && isMarked(own)) own.remove(eraseMark);
}

/**
 * Decides about a home that is held and perhaps is a marked store: erases it, or takes the mark back. Returns whether it was
 * erased. Throws what the disk says.
 */
export async function settleMark({ home, folder, own }: SessionPlace): Promise<boolean> {
  if (home.kind !== "store" || !isMarked(own)) return false;
  const { root, id } = home;
  using users = openPlace(root, usersFolder);
  const [followed] = followedIn(users, id);
  if (followed === undefined) {
    takeMarkBack(folder);
    return false;
  }
  // Whoever has renamed the user's folder can have died before it was durable.
  await users?.flush();
  await folder.moveAway(erasedName(followed));
  await endFollowing(root, id);
  return true;
}

/**
 * Says of a user's renamed folders that the store has followed, durably: from then on they decide about no later store of
 * the user. To be called while the store is held, or is not there.
 */
export async function endFollowing(root: DataRoot, id: StoreId): Promise<void> {
  using users = openPlace(root, usersFolder);
  using stores = openPlace(root, storesFolder);
  const followed = followedIn(users, id);
  // The store's new name can be another process's, who has died before it was durable.
  if (followed.length > 0) await stores?.flush();
  for (const erased of followed) {
    try {
      users?.rename(followedName(erased), users, erasedName(erased));
    } catch (error) {
      // Another process has just done it.
      if (!(error instanceof ToolError) || !isMissing(error.cause)) throw error;
    }
  }
  await users?.flush();
}

/** The erasures of a store's owner that the store perhaps has not followed yet: one at most. */
function followedIn(users: Directory | null, id: StoreId): ErasedUser[] {
  const entries = users?.entries() ?? [];
  return entries.flatMap(({ name, kind }) => {
    const found = kind === "folder" ? readErasedName(name) : null;
    return found?.isFollowed && found.erased.store === id ? [found.erased] : [];
  });
}
