import { scopeName } from "../../../shared/path.ts";
import type { DataRoot } from "../../disk/data-root.ts";
import type { Directory, DirectoryEntry, MeasuredTree } from "../../disk/directory.ts";
import type { EndSignal } from "../../values/call-ending.ts";
import { ownStoreOf, scopeOfStore } from "../../values/store-id.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { UserId } from "../../values/user-id.ts";
import type {
  ErasableContent,
  ErasedUser,
  ErasedUsers,
  HoldToEraseOptions,
  HeldToErase,
  LeftOver,
} from "../erasing.ts";
import { HeldReads } from "../held-reads.ts";
import type { StoreFinding } from "../holding.ts";
import { entriesScope } from "../shared-stores.ts";
import { removeStagedHomes } from "./copy/staged-home.ts";
import { ErasableHome } from "./erasable-home.ts";
import { erasedName, followedName, newErasedUser, readErasedName } from "./erased-names.ts";
import { FileReader, heldFiles } from "./file-reader.ts";
import type { HomeSession } from "./home-session.ts";
import { storesFolder, usersFolder } from "./home.ts";
import type { Homes } from "./homes.ts";
import { endFollowing, markToErase, takeMarkBack } from "./shared/erase-mark.ts";
import type { FileSharedStores } from "./shared/file-shared-stores.ts";

/** Where what is left of users lies. */
const places = [usersFolder, storesFolder];

export class FileErasures implements ErasedUsers {
  readonly #root: DataRoot;
  readonly #homes: Homes<UserId>;
  readonly #stores: FileSharedStores;

  constructor(root: DataRoot, homes: Homes<UserId>, stores: FileSharedStores) {
    this.#root = root;
    this.#homes = homes;
    this.#stores = stores;
  }

  /** Holds the user's folder, then the own store. Nobody else takes both locks. */
  async hold<Result>(
    userId: UserId,
    options: HoldToEraseOptions,
    work: (held: HeldToErase) => Promise<Result>,
  ): Promise<Result> {
    options.signal?.throwIfAborted();
    // One of them can be the user's.
    if (options.to !== "look") await removeStagedHomes(this.#root);
    const home = this.#homes.homeOf(userId);
    const store = ownStoreOf(userId);
    using user = options.to === "look" ? ErasableHome.look(home) : await this.#lock(userId, options);
    return await this.#stores.holdToErase(store, options, async (stores, own) => {
      const reader = new HeldReads(() => heldFiles(new FileReader(home)));
      const history = this.#homes.heldHistory(userId, () => null, null);
      const erase = async (erasedMs: number): Promise<ErasedUser> => {
        if (options.to === "look") throw new RangeError("Cannot erase: the user is held for looking only");
        const erased = newErasedUser(store, erasedMs);
        await eraseHomes(this.#root, { user, own }, erased);
        this.#homes.drop(userId);
        this.#stores.drop(store);
        return erased;
      };
      const contents = async (): Promise<ErasableContent[]> => [
        ...(await contentsOf(user, ({ name }) => (scopeName.test(name) ? name : null))),
        ...(await contentsOf(own, ({ name }) => (name === entriesScope ? scopeOfStore(store) : null))),
      ];
      try {
        return await work({ reader, history, stores, contents, erase });
      } finally {
        reader.end();
      }
    });
  }

  async list(): Promise<ErasedUser[]> {
    const found = places.flatMap((place) => this.#entriesOf(place));
    const all = found.flatMap(({ name, kind }) => (kind === "folder" ? (readErasedName(name)?.erased ?? []) : []));
    return [...new Map(all.map((each) => [each.id, each])).values()];
  }

  async removeFiles(erased: ErasedUser, signal?: EndSignal): Promise<LeftOver[]> {
    await this.#endFollowing(erased);
    const left: LeftOver[] = [];
    const name = erasedName(erased);
    for (const place of places) {
      using above = this.#open(place);
      using folder = above && above.openFolder(name);
      if (folder === null) continue;
      // Whoever has given it this name can have died before that was durable.
      await above?.flush();
      const inFolder = await folder.removeTree(signal);
      left.push(...inFolder.map(({ path, reason }) => ({ path: `${place}/${name}/${path}`, reason })));
    }
    return left;
  }

  async forget(erased: ErasedUser): Promise<void> {
    for (const place of places) {
      using folder = this.#open(place);
      folder?.removeFolder(erasedName(erased));
      await folder?.flush();
    }
  }

  async findings(): Promise<StoreFinding[]> {
    return places.flatMap((place) => {
      const left = this.#entriesOf(place).filter(({ name }) => readErasedName(name) !== null);
      return left.map(({ name }) => leftFinding(`${place}/${name}`));
    });
  }

  #lock(userId: UserId, { to, until, signal }: HoldToEraseOptions): Promise<ErasableHome | null> {
    const homes = this.#homes;
    const waiting = { make: true, readOnlyWillDo: false, until, signal };
    const lock = (): Promise<HomeSession | null> =>
      to === "read" ? homes.open(userId, waiting) : homes.lock(userId, waiting);
    // Only what was recovered can be retired.
    const release = (session: HomeSession): void =>
      to === "read" ? homes.release(userId, session) : session[Symbol.dispose]();
    return ErasableHome.hold(homes.homeOf(userId), lock, release);
  }

  /** If the own store has not followed the user's folder, it does so now. */
  async #endFollowing(erased: ErasedUser): Promise<void> {
    using users = this.#open(usersFolder);
    if (users === null || users.identityOf(followedName(erased)) === null) return;
    await this.#stores.follow(erased.store);
  }

  #entriesOf(place: string): DirectoryEntry[] {
    using folder = this.#open(place);
    return folder?.entries() ?? [];
  }

  /** The folder of all users, or of all stores; `null` if there is none. */
  #open(place: string): Directory | null {
    using data = this.#root.open();
    return data && data.openFolder(place);
  }
}

async function contentsOf(
  home: ErasableHome | null,
  scopeOf: (entry: MeasuredTree) => string | null,
): Promise<ErasableContent[]> {
  if (home === null) return [];
  // An empty folder is something, too.
  const rows = new Map([[null as string | null, newRow()]]);
  for (const entry of await home.folder.home.measureTree()) {
    const scope = entry.kind === "folder" ? scopeOf(entry) : null;
    const row = rows.get(scope) ?? newRow();
    row.files += entry.files;
    row.bytes += entry.bytes;
    row.closed.push(...entry.closed.map(({ path, reason }) => ({ path: `${home.shown}/${path}`, reason })));
    rows.set(scope, row);
  }
  return Array.from(rows, ([scope, row]) => ({ scope, ...row }));
}

const newRow = () => ({ files: 0, bytes: 0, closed: [] as LeftOver[] });

const leftFinding = (path: string): StoreFinding => ({
  code: "erase-unfinished",
  path,
  message: "it is what is left of an erased user",
  remedy: "remove it, and what other stores have granted the user",
});

/** What a user has: a folder, an own store, or both. */
interface ErasableHomes {
  readonly user: ErasableHome | null;
  readonly own: ErasableHome | null;
}

/**
 * Renames a user's folder and own store to names that nobody looks for, both or none: `shared/erase-mark.ts` says how a
 * crash in between is finished. A store that cannot have the mark, because no host can use it, follows without it.
 */
async function eraseHomes(root: DataRoot, { user, own }: ErasableHomes, erased: ErasedUser): Promise<void> {
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
