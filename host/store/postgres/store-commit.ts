import { ownStoreOf } from "../../values/store-id.ts";
import type { StoreId } from "../../values/store-id.ts";
import { refuseFull } from "../grant-hints.ts";
import { entriesScope } from "../shared-stores.ts";
import type { ChangesOfStore, NewGrants } from "../shared-stores.ts";
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
  readonly homeOf: (id: StoreId) => HeldHome;
  /** The versions of the stores that are only read. */
  readonly onlyRead: ReadonlyMap<StoreId, string>;
  readonly settings: StoreSettings;
  readonly news: ChangeNews;
  readonly done: (id: StoreId) => void;
}

/** Makes the changes of some stores in one transaction: its end gives the locks away. */
export async function commitStores(
  transaction: Transaction,
  { homeOf, onlyRead, settings, news, done }: StoreCommit,
  parts: readonly ChangesOfStore[],
): Promise<void> {
  const commits: HomeCommit[] = [];
  const more = onlyRead.size > 0 ? [refuseChanged(onlyRead)] : [];
  for (const [id, { by, derived = [], grants, decision: _decision, ...wanted }] of parts) {
    const home = homeOf(id);
    const userId = by !== null && ownStoreOf(by) === id ? by : null;
    const ofEntries = { derived: new Map([[entriesScope, derived]]), recorded: entriesScope };
    const of = { ...wanted, ...ofEntries, userId };
    commits.push({ home, commit: await planCommit(home, new HeldDatabaseHistory(home), settings, of) });
    if (!grants) continue;
    await refuseFullGrantees(transaction, id, grants);
    more.push(setGrants(id, grants));
  }
  const commit = (): Promise<boolean> => commitHomes(transaction, commits, more);
  const [first, ...others] = parts;
  const { by = null, decision } = first?.[1] ?? {};
  if (first === undefined || others.length > 0 || decision === undefined || by === null) await commit();
  else {
    const history = new HeldDatabaseHistory(homeOf(first[0]));
    await commitDeciding({ transaction, userId: by, decision, history }, commit);
  }
  for (const [id] of parts) {
    done(id);
    news.tell(id);
  }
}

async function refuseFullGrantees(
  transaction: Transaction,
  store: StoreId,
  { granted, nowMs }: NewGrants,
): Promise<void> {
  const asked = granted.map(({ grantee }) => countGrants(grantee, store, nowMs));
  if (asked.length === 0) return;
  for (const [row] of await transaction.ask(...asked)) refuseFull(Number(row?.["grants"] ?? 0));
}
