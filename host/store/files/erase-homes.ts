import type { DataRoot } from "../../disk/data-root.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { ErasedUser } from "../erasing.ts";
import type { ErasableHome } from "./erasable-home.ts";
import { erasedName, followedName } from "./erased-names.ts";
import { endFollowing, markToErase, takeMarkBack } from "./shared/erase-mark.ts";

/** What a user has: a folder, an own store, or both. */
export interface ErasableHomes {
  readonly user: ErasableHome | null;
  readonly own: ErasableHome | null;
}

/**
 * Renames a user's folder and own store to names that nobody looks for, both or none: `shared/erase-mark.ts` says how a
 * crash in between is finished. A store that cannot have the mark, because no host can use it, follows without it.
 */
export async function eraseHomes(root: DataRoot, { user, own }: ErasableHomes, erased: ErasedUser): Promise<void> {
  if (user === null || own === null) return await (user ?? own)?.moveAway(erasedName(erased));
  // What an earlier erasure has left must not decide about this store.
  await endFollowing(root, erased.store);
  const isMarked = own.isLocked && (await markToErase(own.folder));
  try {
    await user.moveAway(isMarked ? followedName(erased) : erasedName(erased));
  } catch (error) {
    if (isMarked) takeMarkBack(own.folder);
    throw error;
  }
  await follow(root, own, { erased, isMarked });
}

/** The erasure counts already. If the store cannot follow now, it does as soon as somebody opens it. */
async function follow(
  root: DataRoot,
  own: ErasableHome,
  { erased, isMarked }: { readonly erased: ErasedUser; readonly isMarked: boolean },
): Promise<void> {
  try {
    await own.moveAway(erasedName(erased));
    await endFollowing(root, erased.store);
  } catch (error) {
    if (!isMarked || !(error instanceof ToolError)) throw error;
  }
}
