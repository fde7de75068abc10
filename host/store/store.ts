/** Keeps users' memory. Nothing outside `host/store/` knows how. */
import { ownStoreName } from "../../shared/shared-scope.ts";
import { ownerByIdOf } from "../values/ids.ts";
import type { StoreId, UserId } from "../values/ids.ts";
import { ToolError } from "../values/tool-error.ts";
import type { Engine, ErasedUsers, FoundHome } from "./engine.ts";
import { HeldHomes } from "./held-homes.ts";
import { commits, inLockOrder, keyOf, ownStoreHome, userHome } from "./home.ts";
import type { Home, HoldOptions, Mode } from "./home.ts";
import { untilFresh } from "./plan-changes.ts";
import type { StoreFinding } from "./reading.ts";

/**
 * The homes of one engine. Checks what is asked and repeats work that was stale; the engine does the bare operation.
 *
 * Store and readers throw `ToolError` with `STORAGE_UNSAFE`, `STORAGE_FULL`, `STORAGE_BUSY` or `STORAGE_FAILED` if the
 * medium fails or holds something unsafe, such as a link, and `CAPABILITY_DENIED` for scopes and paths that
 * `shared/path.ts` does not allow.
 */
export class Store {
  readonly #engine: Engine;
  readonly #isReadOnly: boolean;

  /** `isReadOnly`: nothing is written, whatever is asked for. What would write is `READ_ONLY`. */
  constructor(engine: Engine, isReadOnly = false) {
    this.#engine = engine;
    this.#isReadOnly = isReadOnly;
  }

  /**
   * Holds homes in a mode while `work` runs. First finishes what a crash has left unfinished. Repeats the work if what it
   * read has changed meanwhile, by a person's hand or by others. Throws `BUSY` if others keep a home for too long, and the
   * signal's reason.
   */
  async hold<Result>(
    homes: readonly Home[],
    mode: Mode,
    options: HoldOptions,
    work: (held: HeldHomes) => Promise<Result>,
  ): Promise<Result> {
    const besides = options.besides?.filter((home) => homes.every((each) => keyOf(each) !== keyOf(home))) ?? [];
    if (this.#isReadOnly && mode !== "look" && mode !== "read") throw readOnly();
    const all = inLockOrder([...homes, ...(options.onlyRead ?? []), ...besides]);
    const stores = all.filter(({ kind }) => kind === "store");
    return await untilFresh(options, (isLast) => {
      // Work that only reads keeps no writer of stores waiting, unless they have changed each time.
      const onlyRead = mode === "read" ? (isLast ? [] : stores) : commits(mode) ? options.onlyRead : [];
      const asked = { ...options, onlyRead, besides, isReadOnly: this.#isReadOnly };
      return this.#engine.hold(all, mode, asked, async (engine) => {
        using held = new HeldHomes(all, { mode, options: asked }, engine);
        return await held.run(work);
      });
    });
  }

  /** The home that has some scopes of a user. A call never has scopes of two. */
  homeOf(userId: UserId, scopes: readonly string[]): Home {
    if (scopes.includes(ownStoreName)) return ownStoreHome(userId);
    const mount = this.#engine.mounts.find(({ id, scope }) => id === userId && scopes.includes(scope));
    if (mount === undefined) return userHome(userId);
    // A change in two places would not be atomic. No loaded tool asks for it.
    if (scopes.length > 1) throw new RangeError(`"${mount.scope}" is mounted, so it cannot be used with other scopes`);
    return mount;
  }

  /** All homes of a user: the folder, the mounts, the own store. */
  homesOf(userId: UserId): Home[] {
    const mounts = this.#engine.mounts.filter(({ id }) => id === userId);
    return [userHome(userId), ...mounts, ownStoreHome(userId)];
  }

  /** Whether some scopes of a user are in a mounted folder. The call's audit record says so. */
  isMounted(userId: string | null, scopes: readonly string[]): boolean {
    return this.#engine.mounts.some(({ id, scope }) => id === userId && scopes.includes(scope));
  }

  /** The users who have stored anything or have a mount, or whose own stores exist, as far as that is on record. */
  async users(): Promise<UserId[]> {
    const found = await this.#engine.homes();
    const owners = found.flatMap((home) =>
      home.kind === "user" ? home.id : (ownerByIdOf(home.id) ?? home.owner ?? []),
    );
    return [...new Set([...owners, ...this.#engine.mounts.map(({ id }) => id)])];
  }

  /** The shared stores to which anything was committed, or into which someone has put entries by hand; in no order. */
  async stores(): Promise<StoreId[]> {
    return (await this.#engine.homes()).flatMap((home: FoundHome) => (home.kind === "store" ? home.id : []));
  }

  // The rest is as the engine does it.
  readonly strays = async (): Promise<StoreFinding[]> => (await this.#engine.strays?.()) ?? [];
  readonly hintsOf: Engine["hintsOf"] = (principal) => this.#engine.hintsOf(principal);
  readonly watch: NonNullable<Engine["watch"]> = (...asked) => this.#engine.watch?.(...asked) ?? (() => {});
  readonly close: Engine["close"] = () => this.#engine.close();

  /** Finishes what processes have left that have ended; without writing, that is left to others. Never rejects. */
  async retireLeftOver(): Promise<void> {
    if (!this.#isReadOnly) await this.#engine.retireLeftOver?.();
  }

  /** What is left of erased users. */
  get erased(): ErasedUsers {
    const { erased } = this.#engine;
    return this.#isReadOnly ? { list: () => erased.list(), removeFiles: refuse, forget: refuse } : erased;
  }
}

const refuse = (): Promise<never> => Promise.reject(readOnly());

const readOnly = (): ToolError => new ToolError("READ_ONLY", "Cannot change anything: the runtime is read-only");
