import { ownStoreOf } from "../../values/store-id.ts";
import type { StoreId } from "../../values/store-id.ts";
import type { ChangesOfStore } from "../changes-by-store.ts";
import { refuseFull } from "../grant-hints.ts";
import { refuseBytes } from "../plan-changes.ts";
import { entriesScope } from "../shared-stores.ts";
import type { StoreChanges } from "../shared-stores.ts";
import type { StoreSettings } from "../store-settings.ts";
import type { ChangeNews } from "./change-news.ts";
import { HeldDatabaseHistory } from "./held-database-history.ts";
import { commitDeciding } from "./held-database-records.ts";
import type { HeldHome } from "./held-home.ts";
import { commitHomes } from "./home-commit.ts";
import type { HomeCommit } from "./home-commit.ts";
import { planCommit } from "./planned-commit.ts";
import { countGrants, refuseChanged, setGrants } from "./statements.ts";
import type { Transaction } from "./transaction.ts";

interface StoreCommit {
  readonly changes: StoreChanges;
  readonly byStore: readonly ChangesOfStore[];
  readonly homeOf: (id: StoreId) => HeldHome;
  /** The versions of the stores that are only read. */
  readonly onlyRead: ReadonlyMap<StoreId, string>;
  readonly settings: StoreSettings;
  readonly news: ChangeNews;
}

/** Makes the changes of some stores in one transaction. */
export async function commitStores(transaction: Transaction, wanted: StoreCommit): Promise<void> {
  const { changes: all, byStore, homeOf, onlyRead, settings, news } = wanted;
  const { by, facts, kind, derived = [], grants = new Map(), decision } = all;
  const commits: HomeCommit[] = [];
  for (const { id, changes, seen } of byStore) {
    const home = homeOf(id);
    const userId = by !== null && ownStoreOf(by) === id ? by : null;
    const ofEntries = new Map([[entriesScope, derived]]);
    const of = { changes, seen, userId, facts, kind, derived: ofEntries, recorded: entriesScope };
    commits.push({ home, commit: await planCommit(home, new HeldDatabaseHistory(home), settings, of) });
  }
  refuseBytes(commits.flatMap(({ commit }) => commit.planned));
  await refuseFullGrantees(transaction, grants);
  const more = [
    ...(onlyRead.size > 0 ? [refuseChanged(onlyRead)] : []),
    ...Array.from(grants, ([id, granted]) => setGrants(id, granted)),
  ];
  const commit = (): Promise<boolean> => commitHomes(transaction, commits, more);
  const [first] = byStore;
  if (decision === undefined || by === null || first === undefined) await commit();
  else {
    const history = new HeldDatabaseHistory(homeOf(first.id));
    await commitDeciding({ transaction, userId: by, decision, history }, commit);
  }
  for (const { id } of byStore) news.tell(id);
}

async function refuseFullGrantees(
  transaction: Transaction,
  grants: NonNullable<StoreChanges["grants"]>,
): Promise<void> {
  const asked = Array.from(grants).flatMap(([store, { granted, nowMs }]) =>
    granted.map(({ grantee }) => countGrants(grantee, store, nowMs)),
  );
  if (asked.length === 0) return;
  for (const [row] of await transaction.ask(...asked)) refuseFull(Number(row?.["grants"] ?? 0));
}
