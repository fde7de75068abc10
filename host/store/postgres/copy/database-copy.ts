import type { StoreId } from "../../../values/store-id.ts";
import { ToolError } from "../../../values/tool-error.ts";
import type { UserId } from "../../../values/user-id.ts";
import type { CopySettings, HomeContent, HomeName, StoreCopy, WrittenHome } from "../../copying.ts";
import { nobody } from "../acting.ts";
import type { Acting } from "../acting.ts";
import { refuseUnfit } from "../check-database.ts";
import { withClient } from "../connections.ts";
import { Database } from "../database.ts";
import { lockOf, placeOfUser } from "../home-place.ts";
import type { HomePlace } from "../home-place.ts";
import { listErased, listHomes } from "../statements.ts";
import type { Row } from "../statements.ts";
import type { Transaction } from "../transaction.ts";
import { addLeft, listLeaving, listLeft } from "./copy-statements.ts";
import { readWhole } from "./read-whole.ts";
import { writeWhole } from "./write-whole.ts";

/** Throws `STORAGE_FAILED` if the database is not fit for a host. */
export async function openDatabaseCopy(url: string, settings: CopySettings): Promise<StoreCopy> {
  await withClient(url, refuseUnfit);
  return new DatabaseCopy(url, settings);
}

class DatabaseCopy implements StoreCopy {
  readonly #database: Database;
  readonly #waitMs: number;

  constructor(url: string, { durability, waitMs }: CopySettings) {
    const isRelaxed = durability === "relaxed";
    this.#database = new Database({ url, connectionsMax: 1, isRelaxed, clock: Date.now, note: () => {} });
    this.#waitMs = waitMs;
  }

  async homes(): Promise<HomeName[]> {
    return await this.#act({ who: nobody, isReadOnly: true }, async (transaction) => {
      const [users = [], stores = []] = await transaction.ask(listHomes("user"), listHomes("store"));
      return [...users.flatMap(userIn), ...stores.map(({ tenant }): HomeName => ({ kind: "store", id: idOf(tenant) }))];
    });
  }

  async strays(): Promise<[]> {
    return [];
  }

  async hasErasures(): Promise<boolean> {
    return (await this.#database.ask(nobody, listErased())).length > 0;
  }

  /** Keeps no writer waiting: the transaction sees one moment. */
  async hold<Result>(home: HomeName, work: (content: HomeContent | null) => Promise<Result>): Promise<Result> {
    const place = placeOf(home);
    return await this.#act({ who: place.tenant, isReadOnly: true }, async (transaction) =>
      work(await readWhole(transaction, place)),
    );
  }

  async write(home: HomeName, content: WrittenHome): Promise<boolean> {
    const place = placeOf(home);
    const userId = home.kind === "user" ? home.id : content.creator;
    return await this.#act({ who: place.tenant, isReadOnly: false, locks: [lockOf(place)] }, (transaction) =>
      writeWhole(transaction, place, { userId, content }),
    );
  }

  async leftStores(): Promise<Map<StoreId, StoreId[]>> {
    const [leaving = []] = await this.#act({ who: nobody, isReadOnly: true }, (transaction) =>
      transaction.ask(listLeaving()),
    );
    const all = new Map<StoreId, StoreId[]>();
    for (const { tenant } of leaving) {
      const who = idOf(tenant);
      const [left = []] = await this.#act({ who, isReadOnly: true }, (transaction) => transaction.ask(listLeft(who)));
      all.set(
        who,
        left.map(({ store }) => idOf(store)),
      );
    }
    return all;
  }

  async leaveStores(principal: StoreId, stores: readonly StoreId[]): Promise<void> {
    await this.#act({ who: principal, isReadOnly: false }, (transaction) =>
      transaction.commit(addLeft(principal, stores)),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#database.close();
  }

  async #act<Result>(
    acting: Pick<Acting, "who" | "isReadOnly"> & Partial<Acting>,
    work: (transaction: Transaction) => Promise<Result>,
  ): Promise<Result> {
    const until = performance.now() + this.#waitMs;
    return await this.#database.act({ locks: [], until, ...acting }, naming, work);
  }
}

function placeOf(home: HomeName): HomePlace {
  return home.kind === "user" ? placeOfUser(home.id) : { tenant: home.id, kind: "store" };
}

const userIn = ({ user_id: userId }: Row): HomeName[] =>
  userId === null ? [] : [{ kind: "user", id: String(userId) as UserId }];

const idOf = (value: Row[string] | undefined): StoreId => String(value) as StoreId;

const naming = {
  action: "copy",
  tooLong: (waitedMs: number): ToolError =>
    new ToolError("BUSY", `Cannot copy: the memory has been in use for ${waitedMs} ms`),
};
