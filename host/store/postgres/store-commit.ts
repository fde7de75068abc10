import { ownStoreOf } from "../../values/store-id.ts";
import type { StoreId } from "../../values/store-id.ts";
import { refuseFull } from "../grant-hints.ts";
import { entriesScope } from "../shared-stores.ts";
import type { NewGrants, StoreChanges } from "../shared-stores.ts";
import type { StoreSettings } from "../store-settings.ts";
import type { ChangeNews } from "./change-news.ts";
import { HeldDatabaseHistory } from "./held-database-history.ts";
import { commitDeciding } from "./held-database-records.ts";
import type { HeldHome } from "./held-home.ts";
import { commitHome } from "./home-commit.ts";
import { planCommit } from "./planned-commit.ts";
import { countGrants, refuseChanged, setGrants } from "./statements.ts";
import type { Transaction } from "./transaction.ts";

interface StoreCommit {
  readonly home: HeldHome;
  /** The versions of the stores that are only read. */
  readonly onlyRead: ReadonlyMap<StoreId, string>;
  readonly settings: StoreSettings;
  readonly news: ChangeNews;
}

/** Makes the changes of a store in one transaction. */
export async function commitStore(transaction: Transaction, of: StoreCommit, changes: StoreChanges): Promise<void> {
  const { home, onlyRead, settings, news } = of;
  const { by, derived = [], grants, decision, ...wanted } = changes;
  const id = home.place.tenant;
  const userId = by !== null && ownStoreOf(by) === id ? by : null;
  const ofEntries = { derived: new Map([[entriesScope, derived]]), recorded: entriesScope };
  const history = new HeldDatabaseHistory(home);
  const planned = await planCommit(home, history, settings, { ...wanted, ...ofEntries, userId });
  if (grants) await refuseFullGrantees(transaction, id, grants);
  const more = [...(onlyRead.size > 0 ? [refuseChanged(onlyRead)] : []), ...(grants ? [setGrants(id, grants)] : [])];
  const commit = (): Promise<boolean> => commitHome(transaction, { home, commit: planned }, more);
  if (decision === undefined || by === null) await commit();
  else await commitDeciding({ transaction, userId: by, decision, history }, commit);
  news.tell(id);
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
