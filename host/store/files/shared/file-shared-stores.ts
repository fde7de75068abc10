/**
 * Keeps shared stores as files: `stores/<uuid>/entries/<path>` below the data folder, with the host's own `.memcell/`
 * beside the entries. The grants lie in `.memcell/`, where no guest can reach them.
 */
import type { DataRoot } from "../../../disk/data-root.ts";
import type { StoreId } from "../../../values/store-id.ts";
import { giveTurn } from "../../../values/turns.ts";
import type { UserId } from "../../../values/user-id.ts";
import type { HoldToEraseOptions } from "../../erasing.ts";
import type { GrantHint } from "../../grant-hints.ts";
import { HeldStoreSet } from "../../held-stores.ts";
import { untilFresh } from "../../plan-changes.ts";
import type { HeldStores, SharedStores, StoreHoldOptions } from "../../shared-stores.ts";
import { onSnapshot } from "../../snapshot.ts";
import { ErasableHome } from "../erasable-home.ts";
import { examineHome } from "../examine.ts";
import { FileReader, heldFiles } from "../file-reader.ts";
import type { HomeSession } from "../home-session.ts";
import { storeHome } from "../home.ts";
import { Homes } from "../homes.ts";
import type { HomesSetup } from "../homes.ts";
import { retireLeftOver } from "../left-over.ts";
import { waitingFor } from "../open-session.ts";
import { commitStore } from "./commit-store.ts";
import { endFollowing } from "./erase-mark.ts";
import { GrantedHints } from "./granted-hints.ts";
import { lockRecovered, lockResolved } from "./lock-recovered.ts";
import type { Recovering } from "./lock-recovered.ts";
import { noLocks } from "./lock-stores.ts";
import type { Holding, LockedStores, Versions } from "./lock-stores.ts";
import { hasStore, listStores, ownerOf } from "./store-facts.ts";
import { StoreSizes } from "./store-sizes.ts";
import { isStill, readVersion, versionAtRest, versionIn } from "./wal-version.ts";
import type { HomeVersion } from "./wal-version.ts";

type Work<Result> = (held: HeldStores) => Promise<Result>;

const followWaitMs = 2_000;

export class FileSharedStores implements SharedStores {
  readonly #root: DataRoot;
  readonly #boot: string | null;
  readonly #hints: GrantedHints;
  readonly #homes: Homes<StoreId>;
  readonly #note: (id: StoreId, text: string) => void;

  constructor(root: DataRoot, setup: Omit<HomesSetup<StoreId>, "homeOf">) {
    this.#root = root;
    this.#boot = setup.boot;
    this.#note = setup.note;
    this.#hints = new GrantedHints(root, setup.isFlushed);
    this.#homes = new Homes<StoreId>({ ...setup, homeOf: (id) => storeHome(root, id) });
  }

  get #recovering(): Recovering {
    return { root: this.#root, homes: this.#homes };
  }

  async hold<Result>(ids: readonly StoreId[], options: StoreHoldOptions, work: Work<Result>): Promise<Result> {
    const sorted = [...new Set(ids)].toSorted();
    if (options.isThorough) for (const id of sorted) this.#homes.forget(id);
    return await untilFresh(options, async () => {
      if (options.isLookingOnly) return await this.#look(sorted, options, work);
      if (options.writes) return await this.#holdForWriting(sorted, options, work);
      let noted: Versions;
      return await onSnapshot(options, {
        note: async () => {
          noted = await this.#versionsOf(sorted, options);
          return () => this.#areStill(noted);
        },
        work: () => this.#run(sorted, options, work, { ...noLocks, noted }),
        locked: () =>
          options.isReadOnly ? this.#look(sorted, options, work) : this.#holdLocked(sorted, options, work),
      });
    });
  }

  async ids(): Promise<StoreId[]> {
    return listStores(this.#root);
  }

  async hintsOf(principal: StoreId): Promise<GrantHint[]> {
    return this.#hints.list(principal);
  }

  leave(principal: StoreId, store: StoreId, isLeft: boolean): Promise<boolean> {
    return this.#hints.leave(principal, store, isLeft);
  }

  async forgetHints(principal: StoreId, untilMs: number): Promise<void> {
    await this.#hints.forget(principal, untilMs);
  }

  async owners(): Promise<UserId[]> {
    return listStores(this.#root).flatMap((id) => ownerOf(this.#root, id) ?? []);
  }

  /** Finishes and retires, one after the other, the WALs that ended processes have left. */
  async retireLeftOver(closing: AbortSignal): Promise<void> {
    const retire = async (id: StoreId): Promise<void> => {
      const locked = await this.#lockRecovered([id], { writes: false, until: performance.now() });
      for (const [each, session] of locked.release()) await this.#homes.retireAndRelease(each, session);
    };
    const homes = { ids: () => listStores(this.#root), homeOf: (id: StoreId) => this.#homes.homeOf(id) };
    await retireLeftOver({ ...homes, retire, note: this.#note }, closing);
  }

  async close(): Promise<void> {
    await this.#homes.close();
  }

  /** Holds a store for whoever erases it; `home` is `null` if there is none. */
  async holdToErase<Result>(
    id: StoreId,
    { to, ...waiting }: HoldToEraseOptions,
    work: (held: HeldStores, home: ErasableHome | null) => Promise<Result>,
  ): Promise<Result> {
    using home =
      to === "look" ? ErasableHome.look(storeHome(this.#root, id)) : await this.#lockToErase(id, waiting, to);
    return await this.#run([id], { ...waiting, writes: false }, (held) => work(held, home));
  }

  /** Erases a store whose owner was erased, if that is still to do. Throws `BUSY` if somebody uses it for long. */
  async follow(id: StoreId): Promise<void> {
    const waiting = { make: false, readOnlyWillDo: false, until: performance.now() + followWaitMs };
    using _locked = await lockResolved(this.#recovering, [id], waiting);
    await endFollowing(this.#root, id);
  }

  /** Notes that a store was erased. */
  drop(id: StoreId): void {
    this.#homes.drop(id);
  }

  #lockToErase(id: StoreId, waiting: Pick<StoreHoldOptions, "until" | "signal">, to: "remove" | "read") {
    const lock = to === "read" ? lockRecovered : lockResolved;
    const lockOne = async (): Promise<HomeSession | null> => {
      const locked = await lock(this.#recovering, [id], waitingFor({ ...waiting, writes: true }));
      return locked.release()[0]?.[1] ?? null;
    };
    // Only what was recovered can be retired.
    const release = (session: HomeSession): void =>
      to === "read" ? this.#homes.release(id, session) : session[Symbol.dispose]();
    return ErasableHome.hold(storeHome(this.#root, id), lockOne, release);
  }

  /** Runs the work under the locks of the stores that it does not only read. */
  async #holdForWriting<Result>(
    ids: readonly StoreId[],
    options: StoreHoldOptions,
    work: Work<Result>,
  ): Promise<Result> {
    const read = await this.#versionsOf(options.onlyRead ?? [], { ...options, writes: false });
    const locked = ids.filter((id) => !read.has(id));
    return await this.#holdLocked(locked, options, work, read);
  }

  /** Runs the work under the locks of some stores. */
  async #holdLocked<Result>(
    ids: readonly StoreId[],
    options: StoreHoldOptions,
    work: Work<Result>,
    read: Versions = new Map(),
  ): Promise<Result> {
    const locked = await this.#lockRecovered(ids, options);
    try {
      return await this.#run(ids, options, work, { locked, read });
    } finally {
      for (const [id, session] of locked.release()) this.#homes.release(id, session);
    }
  }

  /** Runs the work under the locks, and repairs nothing. */
  async #look<Result>(ids: readonly StoreId[], options: StoreHoldOptions, work: Work<Result>): Promise<Result> {
    const locks: Disposable[] = [];
    try {
      for (const id of ids) {
        const [waiting, isOnly] = [waitingFor(options), options.isLookingOnly];
        const lock = await (isOnly ? this.#homes.lockOnly(id, waiting) : this.#homes.lockFinished(id, waiting));
        if (lock !== null) locks.push(lock);
      }
      return await this.#run(ids, options, work);
    } finally {
      for (const lock of locks) lock[Symbol.dispose]();
    }
  }

  /**
   * Notes each store's version, after recovery. Takes a lock only if there is something to finish or to remember, and one
   * lock at a time: whether a version has changed shows later.
   */
  async #versionsOf(ids: readonly StoreId[], options: StoreHoldOptions): Promise<Map<StoreId, HomeVersion>> {
    const versions = new Map<StoreId, HomeVersion>();
    for (const id of ids) {
      await giveTurn();
      const atRest = options.isThorough ? undefined : versionAtRest(this.#homes.homeOf(id), this.#homes.tailOf(id));
      if (atRest !== undefined) {
        versions.set(id, atRest);
        continue;
      }
      if (options.isReadOnly) {
        using _lock = await this.#homes.lockFinished(id, waitingFor(options));
        versions.set(id, readVersion(this.#homes.homeOf(id)));
        continue;
      }
      const locked = await this.#lockRecovered([id], options);
      const session = locked.of(id);
      versions.set(id, session === null ? readVersion(this.#homes.homeOf(id)) : versionIn(session));
      for (const [, each] of locked.release()) this.#homes.releaseUnchanged(id, each);
    }
    return versions;
  }

  #lockRecovered(ids: readonly StoreId[], options: StoreHoldOptions): Promise<LockedStores> {
    return lockRecovered(this.#recovering, ids, waitingFor(options), options.isThorough);
  }

  async #run<Result>(
    ids: readonly StoreId[],
    options: StoreHoldOptions,
    work: Work<Result>,
    { locked, read, noted = read }: Holding = noLocks,
  ): Promise<Result> {
    const sizes = new StoreSizes(this.#homes.sizes, ids, (id) => this.#homes.knownSizes(id, locked?.of(id) ?? null));
    using held = new HeldStoreSet(ids, options, {
      open: (id) => heldFiles(new FileReader(this.#homes.homeOf(id))),
      history: (id) => this.#homes.heldHistory(id, () => locked?.of(id) ?? null, noted.get(id)?.wal ?? null),
      has: (id) => hasStore(this.#root, id),
      findings: (id) => examineHome(this.#homes.homeOf(id), { boot: this.#boot, known: this.#homes.tailOf(id) }),
      knownSizes: sizes.knownSizes,
      areReadStill: () => this.#areStill(read),
      commit: async (parts, done) => {
        if (locked === null) throw new RangeError("The stores are held without their locks");
        const place = { homes: this.#homes, hints: this.#hints, ids, locked, sizes };
        for (const [id, changes] of parts) {
          await commitStore(place, id, changes);
          done(id);
        }
      },
    });
    return await held.run(work);
  }

  #areStill(versions: Versions): boolean {
    return Array.from(versions).every(([id, version]) => isStill(this.#homes.homeOf(id), version));
  }
}
