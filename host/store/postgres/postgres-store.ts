/** Keeps users' memory in a PostgreSQL database that several hosts can share. */
import { UserQueue } from "../../values/slots.ts";
import { ownStoreOf } from "../../values/store-id.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { UserId } from "../../values/user-id.ts";
import type { HoldToEraseOptions, HeldToErase } from "../erasing.ts";
import { HeldReads } from "../held-reads.ts";
import type { HeldRecords } from "../held-records.ts";
import { checkCommits, untilFresh } from "../plan-changes.ts";
import type { HeldUser, HoldOptions, Store, StorePart } from "../store.ts";
import { nobody } from "./acting.ts";
import type { Acting } from "./acting.ts";
import { answerIn } from "./answer-in.ts";
import { DatabaseErasures } from "./database-erasures.ts";
import { HeldDatabaseHistory } from "./held-database-history.ts";
import { commitDeciding, HeldDatabaseRecords } from "./held-database-records.ts";
import { HeldHome } from "./held-home.ts";
import { commitHomes } from "./home-commit.ts";
import { homeFindings } from "./home-findings.ts";
import { lockOf, placeOfUser } from "./home-place.ts";
import { planCommit } from "./planned-commit.ts";
import type { PostgresParts } from "./postgres-parts.ts";
import { PostgresSharedStores } from "./postgres-shared-stores.ts";
import { acceptEdits, listHomes } from "./statements.ts";
import type { Transaction } from "./transaction.ts";

export class PostgresStore implements Store {
  readonly shared: PostgresSharedStores;
  readonly erased: DatabaseErasures;
  readonly #parts: PostgresParts;
  /** So that of this host, only one call of a user waits in the database. */
  readonly #queue = new UserQueue();

  constructor(parts: PostgresParts) {
    this.#parts = parts;
    this.shared = new PostgresSharedStores(parts);
    this.erased = new DatabaseErasures(parts.database);
  }

  async hold<Result>(userId: UserId, options: HoldOptions, work: (held: HeldUser) => Promise<Result>): Promise<Result> {
    return await untilFresh(options, () =>
      this.#act(userId, options, (transaction) => this.#hold(transaction, { userId, options }, work)),
    );
  }

  async holdRecords<Result>(
    userId: UserId,
    options: Omit<HoldOptions, "scopes" | "records">,
    work: (records: HeldRecords) => Promise<Result>,
  ): Promise<Result> {
    return await untilFresh(options, () =>
      this.#act(userId, options, async (transaction) => {
        const records = new HeldDatabaseRecords(transaction, userId, () => checkCommits(options));
        const result = await work(records);
        await records.commit();
        return result;
      }),
    );
  }

  async holdToErase<Result>(
    userId: UserId,
    options: HoldToEraseOptions,
    work: (held: HeldToErase) => Promise<Result>,
  ): Promise<Result> {
    const place = placeOfUser(userId);
    const locks = options.to === "look" ? [] : [lockOf(place), lockOf({ ...place, kind: "store" })];
    const acting = { ...actingFor(userId, options), locks, isReadOnly: options.to === "look" };
    return await untilFresh({ ...options, writes: true }, () =>
      this.#parts.database.act(acting, naming, (transaction) =>
        this.erased.hold(transaction, { userId, options, shared: this.shared, news: this.#parts.news }, work),
      ),
    );
  }

  async users(): Promise<UserId[]> {
    const rows = await this.#parts.database.ask(nobody, listHomes("user"));
    return rows.flatMap(({ user_id: userId }) => (userId === null ? [] : [userId as UserId]));
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
    // A host that ends leaves nothing: the database takes back what it has not committed.
  }

  watch(userId: UserId, changed: () => void): () => void {
    return this.#parts.news.watch(userId, changed);
  }

  async close(): Promise<void> {
    try {
      await this.#parts.news.close();
    } finally {
      await this.#parts.database.close();
    }
  }

  async #act<Result>(
    userId: UserId,
    options: Omit<HoldOptions, "scopes">,
    work: (transaction: Transaction) => Promise<Result>,
  ): Promise<Result> {
    const { isReadOnly = false, isLookingOnly = false, writes, until, signal } = options;
    const locks = writes && !isReadOnly && !isLookingOnly;
    const acting = {
      ...actingFor(userId, options),
      locks: locks ? [lockOf(placeOfUser(userId))] : [],
      isReadOnly: !locks,
    };
    const act = (): Promise<Result> => this.#parts.database.act(acting, naming, work);
    return locks ? await this.#queue.run(userId, { until, signal, tooLong: naming.tooLong }, act) : await act();
  }

  async #hold<Result>(
    transaction: Transaction,
    { userId, options }: { readonly userId: UserId; readonly options: HoldOptions },
    work: (held: HeldUser) => Promise<Result>,
  ): Promise<Result> {
    const { holds, settings, news } = this.#parts;
    const home = new HeldHome(transaction, placeOfUser(userId), options.scopes ?? null);
    if (options.isThorough && !transaction.isReadOnly) await transaction.commit(acceptEdits(home.place));
    home.take(await transaction.ask(...home.first));
    const history = new HeldDatabaseHistory(home);
    const reader = new HeldReads(() => home);
    using asked = holds.begin((question) => answerIn(home, question));
    try {
      return await work({
        reader,
        knownSizes: {},
        handed: { hold: asked.hold, ...home.handed((scope) => scope) },
        history,
        findings: () => homeFindings(home),
        commit: async (changes, seen, { facts, kind, derived, decision } = {}) => {
          if (changes.length === 0) return;
          checkCommits(options);
          const commit = await planCommit(home, history, settings, { changes, seen, userId, facts, kind, derived });
          const make = (): Promise<boolean> => commitHomes(transaction, [{ home, commit }]);
          if (decision === undefined) await make();
          else await commitDeciding({ transaction, userId, decision, history }, make);
          news.tell(home.place.tenant);
        },
      });
    } finally {
      reader.end();
    }
  }
}

const actingFor = (
  userId: UserId,
  { until, signal }: Pick<HoldOptions, "until" | "signal">,
): Pick<Acting, "who" | "until" | "signal"> => ({
  who: ownStoreOf(userId),
  until,
  signal,
});

const naming = {
  action: "use the user's memory",
  tooLong: (waitedMs: number): ToolError =>
    new ToolError("BUSY", `Cannot use the user's memory: it has been in use for ${waitedMs} ms`),
};
