/** Erases users: their folders and own stores get names that nobody looks for, and are removed later. */
import { scopeName } from "../../../shared/path.ts";
import { isForbidden } from "../../disk/disk-failure.ts";
import type { DataRoot } from "../../disk/pinned-directory.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { EndSignal } from "../../values/turns.ts";
import type { ErasableContent, ErasedUser, ErasedUsers, LeftOver } from "../engine.ts";
import { entriesScope, storeHome } from "../home.ts";
import type { HoldOptions } from "../home.ts";
import type { StoreFinding } from "../reading.ts";
import {
  endFollowing,
  erasedName,
  followedName,
  leftOfErased,
  markToErase,
  newErasedUser,
  takeMarkBack,
} from "./erase-mark.ts";
import type { GrantedHints } from "./granted-hints.ts";
import { openErasable } from "./home-owner.ts";
import type { HomeSession } from "./home-session.ts";
import { fileHome, homePlaces, usersFolder } from "./home.ts";
import type { FileHome } from "./home.ts";
import type { Homes } from "./homes.ts";
import { removeStagedHomes } from "./load-home.ts";
import { HomeFolder, openPlace } from "./scope-folders.ts";

/** How long a store is waited for that has to follow its owner's folder. */
const followWaitMs = 2_000;

export class FileErasures implements ErasedUsers {
  readonly #root: DataRoot;
  readonly #homes: Homes;
  readonly #hints: GrantedHints;

  constructor(root: DataRoot, homes: Homes, hints: GrantedHints) {
    this.#root = root;
    this.#homes = homes;
    this.#hints = hints;
  }

  /** Holds a user's folder and own store, in this order. Nobody else takes both locks to change both. */
  async hold<Result>(
    homes: readonly FileHome[],
    options: HoldOptions,
    work: (erase: (erasedMs: number) => Promise<ErasedUser>) => Promise<Result>,
  ): Promise<Result> {
    const [folder, store] = homes;
    if (folder?.kind !== "user" || store?.kind !== "store" || homes.length > 2) {
      throw new RangeError("Only a user's folder and own store are erased, together");
    }
    options.signal?.throwIfAborted();
    // One of them can be the user's.
    await removeStagedHomes(this.#root);
    using user = await holdToErase(this.#homes, folder, options);
    using own = await holdToErase(this.#homes, store, options);
    return await work(async (erasedMs) => {
      const erased = newErasedUser(store.id, erasedMs);
      await eraseHomes(this.#root, { user, own }, erased);
      for (const home of homes) this.#homes.drop(home);
      return erased;
    });
  }

  async list(): Promise<ErasedUser[]> {
    const all = leftOfErased(this.#root).filter(({ isFolder }) => isFolder);
    return [...new Map(all.map(({ erased }) => [erased.id, erased])).values()];
  }

  async removeFiles(erased: ErasedUser, signal?: EndSignal): Promise<LeftOver[]> {
    await this.#endFollowing(erased);
    const left: LeftOver[] = [];
    const name = erasedName(erased);
    for (const place of homePlaces) {
      using above = openPlace(this.#root, place);
      using folder = above && above.openFolder(name);
      if (folder === null) continue;
      // Whoever has given it this name can have died before that was durable.
      await above?.flush();
      const inFolder = await folder.removeTree(signal);
      left.push(...inFolder.map(({ path, reason }) => ({ path: `${place}/${name}/${path}`, reason })));
    }
    return left;
  }

  async forget(erased: ErasedUser, isFinished: boolean): Promise<void> {
    await this.#hints.forget(erased.store, erased.erasedMs);
    for (const place of isFinished ? homePlaces : []) {
      using folder = openPlace(this.#root, place);
      folder?.removeFolder(erasedName(erased));
      await folder?.flush();
    }
  }

  async findings(): Promise<StoreFinding[]> {
    return leftOfErased(this.#root).map(({ path }) => ({
      code: "erase-unfinished",
      path,
      message: "it is what is left of an erased user",
      remedy: "remove it, and what other stores have granted the user",
    }));
  }

  /** If the own store has not followed the user's folder, it does so now. Throws `BUSY` if somebody uses it for long. */
  async #endFollowing(erased: ErasedUser): Promise<void> {
    using users = openPlace(this.#root, usersFolder);
    if (users === null || users.identityOf(followedName(erased)) === null) return;
    const waiting = { make: false, readOnlyWillDo: false, until: performance.now() + followWaitMs };
    using _locked = await this.#homes.lock(fileHome(storeHome(erased.store), this.#root), waiting);
    await endFollowing(this.#root, erased.store);
  }
}

/** A home for whoever erases it. */
interface ErasableHome extends Disposable {
  readonly folder: HomeFolder;
  readonly isLocked: boolean;
  /** Gives the home another name beside its own, durably. */
  readonly moveAway: (newName: string) => Promise<void>;
}

/** Under the lock if any host can use the home, whatever else is wrong with it. `null` if there is no folder. */
async function holdToErase(
  homes: Homes,
  home: FileHome,
  { until, signal, finishes = false }: HoldOptions,
): Promise<ErasableHome | null> {
  const waiting = { make: true, readOnlyWillDo: false, until, signal };
  let session: HomeSession | null = null;
  try {
    // Also in a folder that a person has made.
    makeOwn(home);
    session = await (finishes ? homes.open(home, waiting) : homes.lock(home, waiting));
  } catch (error) {
    // A home that no host can use as it is has no holder, so it needs no lock.
    if (!isUnusable(error)) throw error;
  }
  const held = session;
  const folder = held?.place.folder ?? openErasable(home);
  if (folder === null) return null;
  const close = (): void => (held ?? folder)[Symbol.dispose]();
  // Only what was recovered can be retired.
  let release = held && finishes ? () => homes.release(held) : close;
  const moveAway = async (newName: string): Promise<void> => {
    held?.place.check();
    await folder.moveAway(newName);
    // Nothing is left to retire.
    release = close;
  };
  return { folder, isLocked: held !== null, moveAway, [Symbol.dispose]: () => release() };
}

/** Makes the host's own folder, for the lock. */
function makeOwn(home: FileHome): void {
  using folder = HomeFolder.open(home);
  folder?.makeOwn();
}

/** On a full disk nobody can make the lock of a home that has none. */
const isUnusable = (error: unknown): boolean =>
  error instanceof ToolError && (["STORAGE_UNSAFE", "STORAGE_FULL"].includes(error.code) || isForbidden(error));

/** What there is in a home, also what no tool can read. */
export async function contentsOf(home: FileHome): Promise<ErasableContent[]> {
  using folder = openErasable(home);
  if (folder === null) return [];
  const isScope = (name: string): boolean => (home.kind === "store" ? name === entriesScope : scopeName.test(name));
  // An empty folder is something, too.
  const rows = new Map([[null as string | null, newRow()]]);
  for (const entry of await folder.home.measureTree()) {
    const scope = entry.kind === "folder" && isScope(entry.name) ? entry.name : null;
    const row = rows.get(scope) ?? newRow();
    row.files += entry.files;
    row.bytes += entry.bytes;
    row.closed.push(...entry.closed.map(({ path, reason }) => ({ path: [...home.names, path].join("/"), reason })));
    rows.set(scope, row);
  }
  return Array.from(rows, ([scope, row]) => ({ scope, ...row }));
}

const newRow = () => ({ files: 0, bytes: 0, closed: [] as LeftOver[] });

/**
 * Renames a user's folder and own store, both or none: `erase-mark.ts` says how a crash in between is finished. A store
 * that cannot have the mark, because no host can use it, follows without it.
 */
async function eraseHomes(
  root: DataRoot,
  { user, own }: { readonly user: ErasableHome | null; readonly own: ErasableHome | null },
  erased: ErasedUser,
): Promise<void> {
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
  try {
    await own.moveAway(erasedName(erased));
    await endFollowing(root, erased.store);
  } catch (error) {
    // The erasure counts already. If the store cannot follow now, it does as soon as somebody opens it.
    if (!isMarked || !(error instanceof ToolError)) throw error;
  }
}
