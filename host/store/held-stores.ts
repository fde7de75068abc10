import type { Change, Seen } from "../values/change-set.ts";
import { scopeOfStore } from "../values/store-id.ts";
import type { StoreId } from "../values/store-id.ts";
import { ToolError } from "../values/tool-error.ts";
import type { Handed } from "./handed.ts";
import { HeldReads } from "./held-reads.ts";
import type { DirectFiles } from "./held-reads.ts";
import type { StoreFinding } from "./holding.ts";
import { checkCommits, StaleCall } from "./plan-changes.ts";
import { checkedStore } from "./reading.ts";
import type { KnownSizes } from "./scope-size.ts";
import { entriesScope, grantsPath, grantsScope } from "./shared-stores.ts";
import type { ChangesOfStore, HeldStores, StoreChanges, StoreHoldOptions } from "./shared-stores.ts";
import type { HeldHistory } from "./versions/held-history.ts";

/** What an engine does for held stores. The scopes are those inside a store. */
export interface StoreWork {
  readonly open: (id: StoreId) => DirectFiles;
  readonly history: (id: StoreId) => HeldHistory;
  readonly has: (id: StoreId) => boolean;
  readonly findings: (id: StoreId) => Promise<StoreFinding[]>;
  readonly knownSizes: KnownSizes;
  readonly handed?: Handed;
  /** Whether nobody has changed the stores that are only read. */
  readonly areReadStill: () => boolean | Promise<boolean>;
  /** Makes the changes of each store, all or none, and calls `done` for those that are durable. None is empty. */
  readonly commit: (parts: readonly ChangesOfStore[], done: (id: StoreId) => void) => Promise<void>;
}

/** The stores that a call holds. Checks what it is asked, and keeps the readers. */
export class HeldStoreSet implements HeldStores, Disposable {
  /** With the stores that are only read. */
  readonly #ids: ReadonlySet<StoreId>;
  readonly #options: StoreHoldOptions;
  readonly #work: StoreWork;
  readonly #readers = new Map<StoreId, HeldReads>();
  #isEnded = false;
  #hasCommitted = false;

  constructor(ids: readonly StoreId[], options: StoreHoldOptions, work: StoreWork) {
    this.#ids = new Set([...ids, ...(options.onlyRead ?? [])]);
    this.#options = options;
    this.#work = work;
  }

  /** Throws `StaleCall` if someone has changed a store meanwhile that is only read, and nothing was committed. */
  async run<Result>(work: (held: HeldStores) => Promise<Result>): Promise<Result> {
    const result = await work(this);
    if (!this.#hasCommitted) await this.#refuseStale();
    return result;
  }

  get knownSizes(): KnownSizes {
    return this.#work.knownSizes;
  }

  get handed(): Handed | null {
    return this.#work.handed ?? null;
  }

  has(id: StoreId): boolean {
    return this.#work.has(this.#held(id));
  }

  reader(id: StoreId): HeldReads {
    const known = this.#readers.get(this.#held(id));
    const reader = known ?? new HeldReads(() => this.#work.open(id), { unlisted: grantsScope });
    this.#readers.set(id, reader);
    return reader;
  }

  history(id: StoreId): HeldHistory {
    return this.#work.history(this.#held(id));
  }

  get seen(): readonly Seen[] {
    return Array.from(this.#readers).flatMap(([id, { seen }]) =>
      seen
        .filter(({ scope }) => scope === entriesScope)
        .map(({ path, digest }): Seen => ({ scope: scopeOfStore(id), path, digest })),
    );
  }

  async commit(id: StoreId, changes: StoreChanges): Promise<void> {
    await this.commitEach([[id, changes]], () => {});
  }

  async commitEach(asked: readonly ChangesOfStore[], done: (id: StoreId) => void): Promise<void> {
    const all = asked.map(([id, changes]): ChangesOfStore => [id, this.#inside(this.#held(id), changes)]);
    const parts = all.filter(([, { changes }]) => changes.length > 0);
    if (parts.length === 0) return;
    checkCommits(this.#options);
    if (parts.some(([id]) => this.#options.onlyRead?.includes(id))) {
      throw new RangeError("Cannot commit: the store is held for reading only");
    }
    if (!this.#hasCommitted) await this.#refuseStale();
    try {
      await this.#work.commit(parts, (id) => {
        this.#hasCommitted = true;
        done(id);
      });
    } catch (error) {
      // Work is repeated only as long as nothing of it is durable.
      throw this.#hasCommitted && error instanceof StaleCall
        ? new ToolError("BUSY", error.message, { cause: error })
        : error;
    }
    for (const reader of this.#readers.values()) reader.forget();
  }

  async findings(id: StoreId): Promise<StoreFinding[]> {
    return await this.#work.findings(this.#held(id));
  }

  [Symbol.dispose](): void {
    this.#isEnded = true;
    for (const reader of this.#readers.values()) reader.end();
  }

  /** The changes with the scopes inside the store. Throws `CAPABILITY_DENIED` for a scope that names no store. */
  #inside(id: StoreId, { changes, seen, grants, ...more }: StoreChanges): StoreChanges {
    const inside = changes.map((change): Change => ({ ...change, scope: entriesScope }));
    if (changes.some(({ scope }) => checkedStore(scope) !== id)) throw new RangeError("A change is of another store");
    if (grants) inside.push({ kind: "write", scope: grantsScope, path: grantsPath, content: grants.content });
    const ofEntries = seen
      .filter(({ scope }) => checkedStore(scope) === id)
      .map(({ path, digest }): Seen => ({ scope: entriesScope, path, digest }));
    const ofGrants = this.#readers.get(id)?.seen.filter(({ scope }) => scope === grantsScope) ?? [];
    return { ...more, changes: inside, seen: [...ofEntries, ...ofGrants], grants };
  }

  async #refuseStale(): Promise<void> {
    if (!(await this.#work.areReadStill())) throw new StaleCall();
  }

  #held(id: StoreId): StoreId {
    if (this.#isEnded || !this.#ids.has(id)) throw new RangeError("The store is not held");
    return id;
  }
}
