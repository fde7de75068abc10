import { isPurge } from "../../values/change-set.ts";
import { UserQueue } from "../../values/slots.ts";
import { ownStoreOf, scopeOfStore } from "../../values/store-id.ts";
import { ToolError } from "../../values/tool-error.ts";
import { atOnce } from "../../values/turns.ts";
import type { UserId } from "../../values/user-id.ts";
import type { ReadAnswers, ReadQuestion } from "../bridge/read-question.ts";
import { commitDecided, storesWithRecords } from "../decided-commits.ts";
import type { ErasableContent, ErasedUsers, HoldToEraseOptions, HeldToErase } from "../erasing.ts";
import { HeldReads } from "../held-reads.ts";
import type { HeldRecords } from "../held-records.ts";
import { checkCommits, planChanges, refuseBytes, untilFresh } from "../plan-changes.ts";
import { checkedStore } from "../reading.ts";
import { noFiles, sumOf } from "../scope-size.ts";
import { entriesScope } from "../shared-stores.ts";
import type { SharedStores } from "../shared-stores.ts";
import { defaultSettings } from "../store-settings.ts";
import type { StoreSettings } from "../store-settings.ts";
import type { HeldUser, HoldOptions, Store, StorePart } from "../store.ts";
import { MemoryHistory } from "./memory-history.ts";
import { MemoryRecords } from "./memory-records.ts";
import { MemoryStores } from "./memory-stores.ts";
import { UserFiles } from "./user-files.ts";

/** All users of one `memoryStore`, in the thread that created it. All runtimes with that store share this object. */
export class MemoryUsers implements Store {
  readonly shared: SharedStores;
  readonly #stores: MemoryStores;
  readonly erased = nothingErased;
  readonly #users = new Map<UserId, UserFiles>();
  readonly #histories = new Map<UserId, MemoryHistory>();
  readonly #records = new MemoryRecords();
  readonly #queue = new UserQueue();
  #settings = defaultSettings;

  constructor() {
    this.#stores = new MemoryStores(() => this.#settings);
    this.shared = storesWithRecords(
      this.#stores,
      (userId, ...asked) => this.holdRecords(userId, ...asked),
      () => {},
    );
  }

  /** For another runtime. Its settings count from now on, if it has any. */
  openedWith(settings: StoreSettings = this.#settings): this {
    this.#settings = settings;
    return this;
  }

  async hold<Result>(userId: UserId, options: HoldOptions, work: (held: HeldUser) => Promise<Result>): Promise<Result> {
    return await untilFresh(options, () => this.#hold(userId, options, work));
  }

  async holdRecords<Result>(
    userId: UserId,
    options: Omit<HoldOptions, "scopes" | "records">,
    work: (records: HeldRecords) => Promise<Result>,
  ): Promise<Result> {
    const { until, signal } = options;
    const history = (): MemoryHistory => {
      const found = this.#historyOf(userId);
      this.#histories.set(userId, found);
      return found;
    };
    const records = this.#records.of(userId, history, () => checkCommits(options));
    return await this.#queue.run(userId, { until, signal, tooLong }, () => work(records));
  }

  async holdToErase<Result>(
    userId: UserId,
    options: HoldToEraseOptions,
    work: (held: HeldToErase) => Promise<Result>,
  ): Promise<Result> {
    options.signal?.throwIfAborted();
    const { until, signal, to } = options;
    const store = ownStoreOf(userId);
    return await this.#queue.run(userId, { until, signal, tooLong }, () =>
      this.#stores.holdToErase(store, options, async (stores, own) => {
        const files = this.filesOf(userId);
        const reader = new HeldReads(() => files);
        try {
          return await work({
            reader,
            history: this.#historyOf(userId).held,
            stores,
            contents: async () => [
              ...contentsOf(files, (scope) => scope),
              ...contentsOf(own, (scope) => (scope === entriesScope ? scopeOfStore(store) : null)),
            ],
            erase: async (erasedMs) => {
              if (to === "look") throw new RangeError("Cannot erase: the user is held for looking only");
              this.#users.delete(userId);
              this.#histories.delete(userId);
              this.#records.forget(userId);
              this.#stores.erase(store);
              return { store, erasedMs, id: "" };
            },
          });
        } finally {
          reader.end();
        }
      }),
    );
  }

  /** Does not list a user who was only read. */
  async users(): Promise<UserId[]> {
    return Array.from(this.#users).flatMap(([userId, files]) => (files.scopes().length > 0 ? [userId] : []));
  }

  async strays(): Promise<[]> {
    return [];
  }

  async parts(): Promise<readonly StorePart[]> {
    return [{ scopes: [] }];
  }

  isApart(): boolean {
    return false;
  }

  async retireLeftOver(): Promise<void> {
    // A process leaves nothing.
  }

  watch(): () => void {
    return () => {};
  }

  async close(): Promise<void> {
    // There is no background work, and other runtimes can still use the data.
  }

  /** The present files, for the guest of a call that holds the user. */
  filesOf(userId: UserId): UserFiles {
    return this.#users.get(userId) ?? new UserFiles();
  }

  /** Answers a guest's read. */
  answer({ asked, userId, scope, path }: ReadQuestion): ReadAnswers[typeof asked] {
    if (userId !== null) return answerIn(this.filesOf(userId), asked, scope, path);
    return answerIn(this.#stores.filesOf(checkedStore(scope)), asked, entriesScope, path);
  }

  #historyOf(userId: UserId): MemoryHistory {
    return this.#histories.get(userId) ?? new MemoryHistory(() => this.#settings);
  }

  async #hold<Result>(
    userId: UserId,
    options: HoldOptions,
    work: (held: HeldUser) => Promise<Result>,
  ): Promise<Result> {
    const { until, signal } = options;
    return await this.#queue.run(userId, { until, signal, tooLong }, async () => {
      const files = this.filesOf(userId);
      const history = this.#historyOf(userId);
      this.#users.set(userId, files);
      const reader = new HeldReads(() => files);
      try {
        return await work({
          reader,
          knownSizes: {},
          handed: null,
          findings: async () => [],
          history: history.held,
          commit: async (changes, seen, { decision, ...facts } = {}) => {
            if (changes.length === 0) return;
            checkCommits(options);
            const records = this.#records.of(
              userId,
              () => history,
              () => checkCommits(options),
            );
            await commitDecided(decision, { records, history: history.held, note: () => {} }, async () => {
              const planned = atOnce(planChanges(files, changes, seen));
              refuseBytes(planned);
              const isLast = isPurge(changes);
              if (isLast) history.forget(planned, facts.derived);
              history.add(history.plan(planned, { ...facts, ...(isLast && { kind: "purged" }) }), planned);
              this.#histories.set(userId, history);
              files.apply(planned);
            });
          },
        });
      } finally {
        reader.end();
        if (files.scopes().length === 0) this.#users.delete(userId);
      }
    });
  }
}

const answerIn = (files: UserFiles, asked: keyof ReadAnswers, scope: string, path: string): ReadAnswers[typeof asked] =>
  asked === "scopeSize" ? files.scopeSize(scope) : files[asked](scope, path);

/** What is erased is gone at once. */
const nothingErased: ErasedUsers = {
  list: () => Promise.resolve([]),
  removeFiles: () => Promise.resolve([]),
  forget: () => Promise.resolve(),
};

function contentsOf(files: UserFiles | null, nameOf: (scope: string) => string | null): ErasableContent[] {
  return (files?.scopes() ?? []).map((scope) => {
    const { live, trash } = files?.scopeSize(scope) ?? { live: noFiles, trash: noFiles };
    const { files: count, bytes } = sumOf(live, trash);
    return { scope: nameOf(scope), files: count, bytes, closed: [] };
  });
}

const tooLong = (waitedMs: number): ToolError =>
  new ToolError("BUSY", `Cannot use the user's memory: it has been in use for ${waitedMs} ms`);
