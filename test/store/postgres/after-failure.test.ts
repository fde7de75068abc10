/** What is left of a transaction in which something has failed: nothing, and nobody takes it for made. */
import { postgresStore } from "memcell";
import { expect, test } from "vitest";

import type { HeldUser, Store } from "../../stage/store.ts";
import { freshDatabase, sharedServer } from "../../support/postgres/fresh-database.ts";
import { alice, commit, errorOf, shown, soon } from "./fault-server.ts";
import { unfit } from "./inner-words.ts";

async function opened(): Promise<Store & AsyncDisposable & { readonly database: string }> {
  const url = await freshDatabase();
  const store = postgresStore({ url, connectionsMax: 1 }).open(() => {});
  const database = /\/(memcell_\d+)\?/.exec(url)?.[1] ?? "";
  return Object.assign(store, { database, [Symbol.asyncDispose]: () => store.close() });
}

test("records are not kept if one of them failed, whatever the work makes of it", async () => {
  await using store = await opened();
  const error = await errorOf(
    store.holdRecords(alice, soon(), async (records) => {
      await records.write("pending", "w-1", "kept?");
      // No text of the database can have this character.
      expect(await errorOf(records.write("pending", "w-2", "\0"))).not.toBeNull();
    }),
  );
  expect(error).toMatchObject({ code: "STORAGE_FAILED" });
  expect(unfit(error)).toBeNull();
  expect(await store.holdRecords(alice, soon(), (records) => records.names("pending"))).toEqual([]);
});

test("reads at the same time share the connection, also the first ones", async () => {
  await using store = await opened();
  const found = await store.holdRecords(alice, soon(), (records) =>
    Promise.all(["w-1", "w-2", "w-3"].map((name) => records.read("pending", name))),
  );
  expect(found).toEqual([null, null, null]);
});

test("a failure of the work itself is nobody else's", async () => {
  await using store = await opened();
  for (const failure of [Object.assign(new Error("of a file"), { code: "ENOENT", errno: -2 }), new Error("timeout")]) {
    expect(await errorOf(store.hold(alice, soon(), () => Promise.reject(failure)))).toBe(failure);
  }
  await commit(store, "one");
});

test("whoever keeps a hold beyond its end gets nothing, and takes no connection", async () => {
  await using store = await opened();
  await commit(store, "one");
  const kept: HeldUser[] = [];
  await store.hold(alice, soon(), async (held) => void kept.push(held));
  for (const held of kept) {
    expect(await errorOf(held.history.versions())).toBeInstanceOf(RangeError);
    expect(
      await errorOf(held.commit([{ kind: "write", scope: "memory", path: "a.md", content: "late" }], [])),
    ).toBeInstanceOf(RangeError);
  }
  expect(await shown(store)).toEqual({ versions: 1, a: "one", b: "one" });
});

test("no session stays in a transaction", async () => {
  await using store = await opened();
  for (let call = 0; call < 20; call++) {
    await errorOf(store.hold(alice, soon(), () => Promise.reject(new Error("of the work"))));
    await errorOf(store.holdRecords(alice, soon(), (records) => records.write("pending", "w-1", "\0")));
    await commit(store, `${call}`);
  }
  const admin = await (await sharedServer()).connect();
  // A notice to other hosts can be under way. A session that stays in a transaction keeps the test from ending.
  for (;;) {
    const { rows } = await admin.query(
      "SELECT state FROM pg_stat_activity WHERE datname = $1 AND usename = 'memcell_host' AND state <> 'idle'",
      [store.database],
    );
    if (rows.length === 0) break;
  }
  await admin.end();
  expect(await shown(store)).toEqual({ versions: 20, a: "19", b: "19" });
});
