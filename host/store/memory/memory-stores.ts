import { UserQueue } from "../../values/slots.ts";
import { ownStoreOf } from "../../values/store-id.ts";
import type { StoreId } from "../../values/store-id.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { UserId } from "../../values/user-id.ts";
import type { ChangesOfStore } from "../changes-by-store.ts";
import { HeldStoreSet } from "../held-stores.ts";
import { planChanges, refuseBytes, untilFresh } from "../plan-changes.ts";
import { hintsMax } from "../shared-stores.ts";
import type { HeldStores, NewGrants, SharedStores, StoreChanges, StoreHoldOptions } from "../shared-stores.ts";
import { onSnapshot } from "../snapshot.ts";
import { UserFiles } from "./user-files.ts";

interface MemoryStore {
  readonly files: UserFiles;
  creator: UserId;
  /** Counts the commits. */
  version: number;
}

type Work<Result> = (held: HeldStores) => Promise<Result>;

/** The shared stores of one `memoryStore`. A store exists from its first commit on. */
export class MemoryStores implements SharedStores {
  readonly #stores = new Map<StoreId, MemoryStore>();
  readonly #queue = new UserQueue();
  /** By principal. */
  readonly #hints = new Map<StoreId, Set<StoreId>>();

  async hold<Result>(ids: readonly StoreId[], options: StoreHoldOptions, work: Work<Result>): Promise<Result> {
    const sorted = [...new Set(ids)].toSorted();
    const run = (): Promise<Result> => this.#run(sorted, options, work);
    return await untilFresh(options, async () => {
      const locked = (): Promise<Result> => this.#inTurn(sorted, options, run);
      if (options.writes || options.isLookingOnly) return await locked();
      const versions = (): string => sorted.map((id) => this.#stores.get(id)?.version ?? 0).join();
      const note = async (): Promise<() => boolean> => {
        const noted = versions();
        return () => versions() === noted;
      };
      return await onSnapshot(options, { note, work: run, locked });
    });
  }

  async ids(): Promise<StoreId[]> {
    return [...this.#stores.keys()];
  }

  async grantedTo(principal: StoreId): Promise<StoreId[]> {
    return [...(this.#hints.get(principal) ?? [])].toSorted();
  }

  async owners(): Promise<UserId[]> {
    const creators = Array.from(this.#stores, ([id, { creator }]) => [id, creator] as const);
    return creators.flatMap(
      ([id, creator]) => [creator, id as string as UserId].find((each) => ownStoreOf(each) === id) ?? [],
    );
  }

  /** The present files, for the guest of a call that holds the store. */
  filesOf(id: StoreId): UserFiles {
    return this.#stores.get(id)?.files ?? new UserFiles({ isTimed: true });
  }

  /** Waits for the turn in one store after another, in the order of their ids. */
  async #inTurn<Result>(
    [first, ...others]: readonly StoreId[],
    options: StoreHoldOptions,
    work: () => Promise<Result>,
  ): Promise<Result> {
    if (first === undefined) return await work();
    const { until, signal } = options;
    return await this.#queue.run(first, { until, signal, tooLong }, () => this.#inTurn(others, options, work));
  }

  async #run<Result>(ids: readonly StoreId[], options: StoreHoldOptions, work: Work<Result>): Promise<Result> {
    using held = new HeldStoreSet(ids, options, {
      open: (id) => this.filesOf(id),
      has: (id) => this.#stores.has(id),
      creatorOf: (id) => this.#stores.get(id)?.creator ?? null,
      findings: () => [],
      usedBytes: {},
      commit: async (changes, byStore) => this.#commit(changes, byStore),
    });
    return await work(held);
  }

  /** Plans all parts before it applies any. */
  #commit({ by, grants = new Map() }: StoreChanges, byStore: readonly ChangesOfStore[]): void {
    const parts = byStore.map(({ id, changes, seen }) => ({
      id,
      planned: planChanges(this.filesOf(id), changes, seen),
    }));
    refuseBytes(parts.flatMap(({ planned }) => planned));
    for (const { id, planned } of parts) {
      const store = this.#stores.get(id) ?? { files: new UserFiles({ isTimed: true }), creator: by, version: 0 };
      if (ownStoreOf(by) === id) store.creator = by;
      this.#stores.set(id, store);
      store.files.apply(planned);
      store.version++;
    }
    for (const [id, each] of grants) this.#noteGrants(id, each);
  }

  #noteGrants(id: StoreId, { grantees, revoked = [] }: NewGrants): void {
    for (const principal of grantees) {
      const hints = this.#hints.get(principal) ?? new Set();
      if (principal !== id && hints.size < hintsMax) this.#hints.set(principal, hints.add(id));
    }
    for (const principal of revoked) this.#hints.get(principal)?.delete(id);
  }
}

const tooLong = (waitedMs: number): ToolError =>
  new ToolError("BUSY", `Cannot use the store: it has been in use for ${waitedMs} ms`);
