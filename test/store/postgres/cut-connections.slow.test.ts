/**
 * A connection is cut at every message of a change in turn: before the server gets it, or before the host gets it. A
 * call that ends well has made its change, once; one that fails has changed nothing.
 */
import { expect, test } from "vitest";

import { openPostgres } from "../../stage/open-store.ts";
import type { OpenedStore, StoreId } from "../../stage/store.ts";
import { CuttingProxy } from "../../support/postgres/cutting-proxy.ts";
import type { Side } from "../../support/postgres/cutting-proxy.ts";
import { freshDatabase } from "../../support/postgres/fresh-database.ts";
import { commitIn, granting, grantsOf, soon, storeA, textOf, to, writeIn } from "../store-stage.ts";
import { alice, commit, errorOf, openFaulty, shown, unfit } from "./fault-stage.ts";

const grantee = "99999999-9999-4999-8999-999999999999" as StoreId;

/** What a change writes: a text of its own, everywhere that it writes. */
interface CutChange {
  /** Gives what it needs. */
  readonly prepare?: (store: OpenedStore) => Promise<void>;
  readonly make: (store: OpenedStore, text: string) => Promise<unknown>;
  /** Every place that it writes, with the number of its versions. */
  readonly shown: (store: OpenedStore) => Promise<readonly unknown[]>;
  /** What `shown` shows after a change that has been made on what was shown `before`. */
  readonly after: (before: readonly unknown[], text: string) => readonly unknown[];
}

const files: CutChange = {
  make: (store, text) => commit(store, text),
  shown: async (store) => Object.values(await shown(store)) as unknown[],
  after: ([versions], text) => [Number(versions) + 1, text, text],
};

const stores: CutChange = {
  make: (store, text) =>
    store.holdStores([storeA], soon(), (held) => {
      const grants = granting(storeA, text, { granted: [to(grantee, Number(text))] });
      return commitIn(held, [writeIn(storeA, "a.md", text), writeIn(storeA, "b.md", text)], { by: alice, ...grants });
    }),
  shown: async (store) => [
    ...(await store.holdStores([storeA], { ...soon(), writes: false }, async (held) => [
      (await held.history(storeA).versions()).length,
      await textOf(held, storeA, "a.md"),
      await textOf(held, storeA, "b.md"),
      await grantsOf(held, storeA),
    ])),
    ...(await store.hintsOf(grantee)).map(({ grantedMs }) => String(grantedMs)),
  ],
  after: ([versions], text) => [Number(versions) + 1, text, text, text, text],
};

const records: CutChange = {
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
    for (const erased of await store.erased.list()) await store.erased.forget(erased, true);
    await files.make(store, "to be erased");
    await records.make(store, "to be erased");
  },
  make: (store, text) =>
    store.holdToErase(alice, { to: "remove", until: performance.now() + 30_000 }, (held) => held.erase(Number(text))),
  shown: async (store) => [
    (await store.users()).includes(alice),
    ...(await files.shown(store)),
    ...(await records.shown(store)),
    ...(await store.erased.list()).map(({ erasedMs }) => erasedMs),
  ],
  after: (_before, text) => [false, 0, null, null, null, null, null, Number(text)],
};

const hints: CutChange = {
  prepare: async (store) => {
    const granted = granting(storeA, "", { granted: [to(grantee)] });
    await store.holdStores([storeA], soon(), (held) => commitIn(held, [], { by: alice, ...granted }));
    await store.leave(grantee, storeA, false);
  },
  make: (store) => store.leave(grantee, storeA, true),
  shown: async (store) => (await store.hintsOf(grantee)).map(({ isLeft }) => isLeft),
  after: () => [true],
};

const cutChanges = { stores, records, erasure, hints };

/** A store whose connections can be cut, and another one on the same database that sees what has become of a change. */
class CutStage implements AsyncDisposable {
  readonly #proxy: CuttingProxy;
  readonly #open: () => OpenedStore;
  readonly #direct: OpenedStore;
  #store: OpenedStore;
  #texts = 0;

  static async open(): Promise<CutStage> {
    const url = await freshDatabase();
    return new CutStage(url, await CuttingProxy.open(url));
  }

  private constructor(url: string, proxy: CuttingProxy) {
    this.#proxy = proxy;
    this.#open = () => openFaulty(proxy.urlOf(url), { connectionsMax: 2, newsUrl: url });
    this.#store = this.#open();
    this.#direct = openPostgres({ url });
  }

  /**
   * Makes a change, and cuts its connection before the side's message number `at`. `isNew`: the connection begins with the
   * change; if not, others have used it. `hasCommit`: the server has heard of the commit. `error`: `null` if the change
   * was made. `wrong`: `undefined` if all is as it must be.
   */
  async cut(change: CutChange, side: Side, at: number, isNew: boolean) {
    const text = `${++this.#texts}`;
    await change.prepare?.(this.#direct);
    if (isNew) {
      await this.#store.close();
      this.#store = this.#open();
    } else {
      await this.#store.holdRecords(alice, { ...soon(), writes: false }, (held) => held.names("pending"));
    }
    const before = await change.shown(this.#direct);
    const { cuts } = this.#proxy;
    this.#proxy.arm(side, at);
    const error = await errorOf(change.make(this.#store, text));
    this.#proxy.disarm();
    const { hasCommit } = this.#proxy;
    const after = await change.shown(this.#direct);
    const due = error === null ? change.after(before, text) : before;
    const wrong = JSON.stringify(after) === JSON.stringify(due) ? undefined : { at, after, due, error };
    return { isCut: this.#proxy.cuts > cuts, hasCommit, error, wrong };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store.close();
    await this.#direct.close();
    await this.#proxy[Symbol.asyncDispose]();
  }
}

const used = Object.entries(cutChanges).map(([kind, change]) => ({ kind, change, isNew: false }));
const rows = [...used, { kind: "files on a new connection", change: files, isNew: true }];

test.for(rows.flatMap((row) => (["host", "server"] as const).map((side) => Object.assign({ side }, row))))(
  "$kind, before each message of the $side",
  { timeout: 120_000 },
  async ({ kind, change, isNew, side }) => {
    await using stage = await CutStage.open();
    const outcomes: Awaited<ReturnType<CutStage["cut"]>>[] = [];
    for (;;) {
      const outcome = await stage.cut(change, side, outcomes.length + 1, isNew);
      if (!outcome.isCut) break;
      outcomes.push(outcome);
    }
    expect(outcomes.flatMap(({ wrong }) => wrong ?? [])).toEqual([]);
    const failed = outcomes.filter(({ error }) => error !== null);
    expect(failed.flatMap(({ error }) => unfit(error) ?? [])).toEqual([]);
    // Whoever has told the server to commit finds out what became of it.
    const committed = outcomes.filter(({ hasCommit }) => hasCommit);
    expect(committed.filter(({ error }) => error !== null)).toEqual([]);
    expect(committed.length).toBeGreaterThan(0);
    console.log(`${kind}, ${side}: ${outcomes.length} cuts, ${failed.length} calls refused`);
    expect(await stage.cut(change, side, Infinity, false)).toMatchObject({ isCut: false, error: null });
  },
);
