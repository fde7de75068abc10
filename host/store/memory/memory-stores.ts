import { isPurge } from "../../values/change-set.ts";
import { UserQueue } from "../../values/slots.ts";
import type { Patience } from "../../values/slots.ts";
import { ownStoreOf } from "../../values/store-id.ts";
import type { StoreId } from "../../values/store-id.ts";
import { ToolError } from "../../values/tool-error.ts";
import { atOnce } from "../../values/turns.ts";
import type { UserId } from "../../values/user-id.ts";
import type { GrantHint } from "../grant-hints.ts";
import { HeldStoreSet } from "../held-stores.ts";
import { planChanges, refuseBytes, untilFresh } from "../plan-changes.ts";
import { entriesScope } from "../shared-stores.ts";
import type { HeldStores, SharedStores, StoreChanges, StoreHoldOptions } from "../shared-stores.ts";
import { onSnapshot } from "../snapshot.ts";
import type { StoreSettings } from "../store-settings.ts";
import { MemoryHints } from "./memory-hints.ts";
import { MemoryHistory } from "./memory-history.ts";
import { UserFiles } from "./user-files.ts";

interface MemoryStore {
  readonly files: UserFiles;
  readonly history: MemoryHistory;
  /** `null` before the owner's first commit. */
  owner: UserId | null;
  /** Another one after each commit, also if the store was erased in between. */
  version: number;
}

type Work<Result> = (held: HeldStores) => Promise<Result>;

/** The shared stores of one `memoryStore`. A store exists from its first commit on. */
export class MemoryStores implements SharedStores {
  readonly #stores = new Map<StoreId, MemoryStore>();
  readonly #queue = new UserQueue();
  readonly #hints = new MemoryHints();
  readonly #newHistory: () => MemoryHistory;
  #commits = 0;

  constructor(settings: () => StoreSettings) {
    this.#newHistory = () => new MemoryHistory(settings);
  }

  async hold<Result>(ids: readonly StoreId[], options: StoreHoldOptions, work: Work<Result>): Promise<Result> {
    const sorted = [...new Set(ids)].toSorted();
    return await untilFresh(options, async () => {
      const { onlyRead = [] } = options;
      if (options.writes || options.isLookingOnly) {
        const areReadStill = this.#noted(onlyRead);
        const toLock = sorted.filter((id) => !onlyRead.includes(id));
        return await this.#queue.runAll(toLock, patienceOf(options), () =>
          this.#run(toLock, options, work, areReadStill),
        );
      }
      const run = (): Promise<Result> => this.#run(sorted, options, work, () => true);
      const locked = (): Promise<Result> => this.#queue.runAll(sorted, patienceOf(options), run);
      return await onSnapshot(options, { note: async () => this.#noted(sorted), work: run, locked });
    });
  }

  async ids(): Promise<StoreId[]> {
    return [...this.#stores.keys()];
  }

  async hintsOf(principal: StoreId): Promise<GrantHint[]> {
    return this.#hints.list(principal);
  }

  async forgetHints(principal: StoreId, untilMs: number): Promise<void> {
    this.#hints.forget(principal, untilMs);
  }

  /** Holds a store for whoever erases it. Its work gets the files, `null` if there is no store. */
  async holdToErase<Result>(
    id: StoreId,
    options: Pick<StoreHoldOptions, "until" | "signal">,
    work: (held: HeldStores, files: UserFiles | null) => Promise<Result>,
  ): Promise<Result> {
    const holding = { ...options, writes: false };
    const run = (held: HeldStores): Promise<Result> => work(held, this.#stores.get(id)?.files ?? null);
    return await this.#queue.runAll([id], patienceOf(holding), () => this.#run([id], holding, run, () => true));
  }

  erase(id: StoreId): void {
    this.#stores.delete(id);
  }

  async leave(principal: StoreId, store: StoreId, isLeft: boolean): Promise<boolean> {
    return this.#hints.leave(principal, store, isLeft);
  }

  async owners(): Promise<UserId[]> {
    return Array.from(this.#stores).flatMap(([id, { owner }]) => {
      const byItsId = id as string as UserId;
      return ownStoreOf(byItsId) === id ? byItsId : (owner ?? []);
    });
  }

  /** The present files, for the guest of a call that holds the store. */
  filesOf(id: StoreId): UserFiles {
    return this.#stores.get(id)?.files ?? new UserFiles();
  }

  /** Notes the stores' versions. Returns whether they are the same still. */
  #noted(ids: readonly StoreId[]): () => boolean {
    const versions = (): string => ids.map((id) => this.#stores.get(id)?.version ?? 0).join();
    const noted = versions();
    return () => versions() === noted;
  }

  async #run<Result>(
    ids: readonly StoreId[],
    options: StoreHoldOptions,
    work: Work<Result>,
    areReadStill: () => boolean,
  ): Promise<Result> {
    using held = new HeldStoreSet(ids, options, {
      open: (id) => this.filesOf(id),
      history: (id) => (this.#stores.get(id)?.history ?? this.#newHistory()).held,
      has: (id) => this.#stores.has(id),
      findings: async () => [],
      knownSizes: {},
      areReadStill,
      commit: async (parts, done) => {
        for (const [id, changes] of parts) {
          this.#commit(id, changes);
          done(id);
        }
      },
    });
    return await held.run(work);
  }

  #commit(id: StoreId, { by, changes, seen, facts, kind, derived = [], grants }: StoreChanges): void {
    const planned = atOnce(planChanges(this.filesOf(id), changes, seen));
    refuseBytes(planned);
    if (grants) this.#hints.check(id, grants);
    const store = this.#stores.get(id) ?? newStore(this.#newHistory());
    if (by !== null && ownStoreOf(by) === id) store.owner = by;
    this.#stores.set(id, store);
    const ofEntries = planned.filter(({ scope }) => scope === entriesScope);
    const isLast = isPurge(changes);
    if (isLast) store.history.forget(ofEntries, new Map([[entriesScope, derived]]));
    store.history.add(store.history.plan(ofEntries, { facts, kind: isLast ? "purged" : kind }), ofEntries);
    store.files.apply(planned);
    store.version = ++this.#commits;
    if (grants) this.#hints.note(id, grants);
  }
}

const newStore = (history: MemoryHistory): MemoryStore => ({
  files: new UserFiles(),
  history,
  owner: null,
  version: 0,
});

/** In the order of the stores' ids. */
const patienceOf = ({ until, signal }: Pick<StoreHoldOptions, "until" | "signal">): Patience => ({
  until,
  signal,
  tooLong,
});

const tooLong = (waitedMs: number): ToolError =>
  new ToolError("BUSY", `Cannot use the store: it has been in use for ${waitedMs} ms`);
