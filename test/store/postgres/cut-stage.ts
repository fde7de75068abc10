/** A store whose connections can be cut, and another one on the same database that sees what has become of a change. */
import { postgresStore } from "memcell";

import { ChangeNews } from "../../../host/store/postgres/change-news.ts";
import { Database } from "../../../host/store/postgres/database.ts";
import { Holds } from "../../../host/store/postgres/holds.ts";
import { PostgresStore } from "../../../host/store/postgres/postgres-store.ts";
import { defaultSettings } from "../../stage/store.ts";
import type { Store, StoreId } from "../../stage/store.ts";
import { CuttingProxy } from "../../support/postgres/cutting-proxy.ts";
import type { Side } from "../../support/postgres/cutting-proxy.ts";
import { freshDatabase } from "../../support/postgres/fresh-database.ts";
import { granting, storeA, storeB, textOf, grantsOf, to, writeIn } from "../store-files.ts";
import { write } from "../store-stage.ts";
import { alice, soon } from "./fault-server.ts";

const grantee = "99999999-9999-4999-8999-999999999999" as StoreId;

/** What a change writes: a text of its own, everywhere that it writes. */
export interface CutChange {
  /** Gives what it needs. */
  readonly prepare: (store: Store) => Promise<void>;
  readonly make: (store: Store, text: string) => Promise<unknown>;
  /** Every place that it writes, with the number of its versions. */
  readonly shown: (store: Store) => Promise<readonly unknown[]>;
  /** What `shown` shows after a change that has been made on what was shown `before`. */
  readonly after: (before: readonly unknown[], text: string) => readonly unknown[];
}

const files: CutChange = {
  prepare: async () => {},
  make: (store, text) =>
    store.hold(alice, soon(), (held) => held.commit([write("a.md", text), write("b.md", text)], held.reader.seen)),
  shown: (store) =>
    store.hold(alice, { ...soon(), writes: false }, async ({ reader, history }) => {
      const texts = await Promise.all(["a.md", "b.md"].map((path) => reader.bytesOf("memory", path)));
      return [(await history.versions()).length, ...texts.map((text) => text && Buffer.from(text).toString())];
    }),
  after: ([versions], text) => [Number(versions) + 1, text, text],
};

const stores: CutChange = {
  prepare: async () => {},
  make: (store, text) =>
    store.shared.hold([storeA, storeB], soon(), (held) =>
      held.commit({
        by: alice,
        changes: [writeIn(storeA, "a.md", text), writeIn(storeB, "b.md", text)],
        seen: held.seen,
        grants: granting(storeA, text, { granted: [to(grantee, Number(text))] }),
      }),
    ),
  shown: async (store) => {
    const hints = await store.shared.hintsOf(grantee);
    return await store.shared.hold([storeA, storeB], { ...soon(), writes: false }, async (held) => [
      (await held.history(storeA).versions()).length,
      (await held.history(storeB).versions()).length,
      await textOf(held, storeA, "a.md"),
      await textOf(held, storeB, "b.md"),
      await grantsOf(held, storeA),
      ...hints.map(({ grantedMs }) => String(grantedMs)),
    ]);
  },
  after: ([ofA, ofB], text) => [Number(ofA) + 1, Number(ofB) + 1, text, text, text, text],
};

const records: CutChange = {
  prepare: async () => {},
  make: (store, text) =>
    store.holdRecords(alice, soon(), async (held) => {
      const made = Number((await held.read("pending", "w-1")) ?? 0) + 1;
      await held.write("pending", "w-1", String(made));
      await held.write("pending", "w-2", text);
      await held.write("pending", "w-3", text);
    }),
  shown: (store) =>
    store.holdRecords(alice, { ...soon(), writes: false }, (held) =>
      Promise.all(["w-1", "w-2", "w-3"].map((name) => held.read("pending", name))),
    ),
  after: ([made], text) => [String(Number(made) + 1), text, text],
};

const erasure: CutChange = {
  prepare: async (store) => {
    for (const erased of await store.erased.list()) await store.erased.forget(erased);
    await files.make(store, "to be erased");
    await records.make(store, "to be erased");
  },
  make: (store, text) =>
    store.holdToErase(alice, { to: "remove", until: performance.now() + 30_000 }, (held) => held.erase(Number(text))),
  shown: async (store) => [
    (await store.users()).length,
    ...(await files.shown(store)),
    ...(await records.shown(store)),
    ...(await store.erased.list()).map(({ erasedMs }) => erasedMs),
  ],
  after: (_before, text) => [0, 0, null, null, null, null, null, Number(text)],
};

const hints: CutChange = {
  prepare: async (store) => {
    const granted = granting(storeA, "", { granted: [to(grantee)] });
    await store.shared.hold([storeA], soon(), (held) =>
      held.commit({ by: alice, changes: [], seen: [], grants: granted }),
    );
    await store.shared.leave(grantee, storeA, false);
  },
  make: (store) => store.shared.leave(grantee, storeA, true),
  shown: async (store) => (await store.shared.hintsOf(grantee)).map(({ isLeft }) => isLeft),
  after: () => [true],
};

/** Their text stays the same, so that no home has a change set. */
const grants: CutChange = {
  prepare: async () => {},
  make: (store, text) =>
    store.shared.hold([storeA], soon(), (held) => {
      const granted = granting(storeA, "the same", { granted: [to(grantee, Number(text))] });
      return held.commit({ by: alice, changes: [], seen: held.seen, grants: granted });
    }),
  shown: async (store) => (await store.shared.hintsOf(grantee)).map(({ grantedMs }) => grantedMs),
  after: (_before, text) => [Number(text)],
};

export const cutChanges = { files, stores, records, erasure, hints, grants };

/** What became of one change whose connection was cut. */
export interface CutOutcome {
  readonly isCut: boolean;
  /** Whether the server had heard of the commit. */
  readonly hasCommit: boolean;
  /** `null` if the change was made. */
  readonly error: unknown;
  /** `undefined` if all is as it must be. */
  readonly wrong: unknown;
}

export class CutStage implements AsyncDisposable {
  readonly proxy: CuttingProxy;
  readonly #open: () => Store;
  readonly #direct: Store;
  #store: Store;
  #texts = 0;

  static async open(): Promise<CutStage> {
    const url = await freshDatabase();
    return new CutStage(url, await CuttingProxy.open(url));
  }

  private constructor(url: string, proxy: CuttingProxy) {
    this.proxy = proxy;
    const setup = { isRelaxed: false, clock: Date.now, connectionsMax: 2, note: () => {} };
    this.#open = () => {
      const database = new Database({ ...setup, url: proxy.urlOf(url) });
      // What is told to other hosts takes another way, so that only the messages of the change are counted.
      const news = new ChangeNews(new Database({ ...setup, url }));
      return new PostgresStore({ database, news, holds: new Holds(), settings: defaultSettings });
    };
    this.#store = this.#open();
    this.#direct = postgresStore({ url }).open(() => {});
  }

  /**
   * Makes a change, and cuts its connection before the side's message number `at`. `isNew`: the connection begins with the
   * change; if not, others have used it.
   */
  async cut(change: CutChange, side: Side, at: number, isNew = false): Promise<CutOutcome> {
    const text = `${++this.#texts}`;
    await change.prepare(this.#direct);
    if (isNew) {
      await this.#store.close();
      this.#store = this.#open();
    } else {
      await this.#store.holdRecords(alice, { ...soon(), writes: false }, (held) => held.names("pending"));
    }
    const before = await change.shown(this.#direct);
    const { cuts } = this.proxy;
    this.proxy.arm(side, at);
    const error = await change.make(this.#store, text).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    this.proxy.disarm();
    const { hasCommit } = this.proxy;
    const shown = await change.shown(this.#direct);
    const due = error === null ? change.after(before, text) : before;
    const wrong = JSON.stringify(shown) === JSON.stringify(due) ? undefined : { at, shown, due, error };
    return { isCut: this.proxy.cuts > cuts, hasCommit, error, wrong };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store.close();
    await this.#direct.close();
    await this.proxy[Symbol.asyncDispose]();
  }
}
