/**
 * The names of what is left of erased users, among users' folders and among stores. They begin with a dot, so no user's
 * folder and no store has one, and other programs' names that begin with a dot are not like them.
 */
import { randomBytes } from "node:crypto";

import type { Directory } from "../../disk/directory.ts";
import { isStoreId } from "../../values/store-id.ts";
import type { StoreId } from "../../values/store-id.ts";
import type { ErasedUser } from "../erasing.ts";

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
export function readErasedName(name: string): { readonly erased: ErasedUser; readonly isFollowed: boolean } | null {
  const [, mark, id = "", store = "", ms] = pattern.exec(name) ?? [];
  if (!isStoreId(store)) return null;
  return { erased: { store, erasedMs: Number(ms), id }, isFollowed: mark === followedMark };
}

const pattern = /^(\.erasing\.|\.erased\.)(([0-9a-f-]{36})\.(\d{1,16})\.[0-9a-f]{8})$/;
