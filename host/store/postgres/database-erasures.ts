import { randomUUID } from "node:crypto";

import { ownStoreOf, scopeOfStore } from "../../values/store-id.ts";
import type { StoreId } from "../../values/store-id.ts";
import type { UserId } from "../../values/user-id.ts";
import type { ErasableContent, ErasedUser, ErasedUsers, HeldToErase, HoldToEraseOptions } from "../erasing.ts";
import { HeldReads } from "../held-reads.ts";
import { sumOf } from "../scope-size.ts";
import { entriesScope } from "../shared-stores.ts";
import { nobody } from "./acting.ts";
import type { ChangeNews } from "./change-news.ts";
import { commitSurely } from "./commit-surely.ts";
import type { Database } from "./database.ts";
import { HeldDatabaseHistory } from "./held-database-history.ts";
import { HeldHome } from "./held-home.ts";
import type { PostgresSharedStores } from "./postgres-shared-stores.ts";
import { erase, forgetErased, isErased, listErased } from "./statements.ts";
import type { Transaction } from "./transaction.ts";

interface Erasing {
  readonly userId: UserId;
  readonly options: HoldToEraseOptions;
  readonly shared: PostgresSharedStores;
  readonly news: ChangeNews;
}

/** The erasure of users. The rows go at once; what is left to do is what others have of the user. */
export class DatabaseErasures implements ErasedUsers {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async hold<Result>(
    transaction: Transaction,
    { userId, options, shared, news }: Erasing,
    work: (held: HeldToErase) => Promise<Result>,
  ): Promise<Result> {
    const tenant = ownStoreOf(userId);
    const user = new HeldHome(transaction, { tenant, kind: "user" }, null);
    const store = new HeldHome(transaction, { tenant, kind: "store" }, null);
    const reader = new HeldReads(() => user);
    const rows = await transaction.ask(...user.first, ...store.first);
    user.take(rows.slice(0, 2));
    store.take(rows.slice(2));
    const holding = { ...options, writes: false };
    return await shared
      .run(transaction, [tenant], holding, (stores) =>
        work({
          reader,
          history: new HeldDatabaseHistory(user),
          stores,
          contents: async () => [
            ...(await contentsOf(user, (scope) => scope)),
            ...(await contentsOf(store, (scope) => (scope === entriesScope ? scopeOfStore(tenant) : null))),
          ],
          erase: async (erasedMs) => {
            if (options.to === "look") throw new RangeError("Cannot erase: the user is held for looking only");
            const erased = { store: tenant, erasedMs, id: randomUUID() };
            await commitSurely(transaction, [erase(erased.id, erasedMs)], isErased(tenant, erased.id));
            news.tell(tenant);
            return erased;
          },
        }),
      )
      .finally(() => reader.end());
  }

  async list(): Promise<ErasedUser[]> {
    const rows = await this.#database.ask(nobody, listErased());
    return rows.map(({ tenant, erased_ms: erasedMs, id }) => ({
      store: tenant as StoreId,
      erasedMs: Number(erasedMs),
      id: String(id),
    }));
  }

  async removeFiles(): Promise<[]> {
    return [];
  }

  async forget({ store, id }: ErasedUser): Promise<void> {
    await this.#database.change(store, forgetErased(store, id));
  }
}

async function contentsOf(home: HeldHome, nameOf: (scope: string) => string | null): Promise<ErasableContent[]> {
  const contents: ErasableContent[] = [];
  for (const scope of home.scopes()) {
    const { live, trash } = await home.scopeSize(scope);
    const { files, bytes } = sumOf(live, trash);
    contents.push({ scope: nameOf(scope), files, bytes, closed: [] });
  }
  return contents;
}
