/** What is left of a transaction in which something fails: nothing. What an administrator sets changes no promise. */
import { once } from "node:events";

import { createRuntime, postgresStore } from "memcell";
import pg from "pg";
import { expect, test } from "vitest";

import { memcell } from "../../stage/command.ts";
import { openPostgres } from "../../stage/open-store.ts";
import { oneIn } from "../../stage/seed.ts";
import { scopeOfStore } from "../../stage/store.ts";
import type { ChangesOfStore, OpenedStore, HomeCommit, StoreId } from "../../stage/store.ts";
import {
  administratorOf,
  asAdministrator,
  databaseOf,
  freshDatabase,
  sharedServer,
} from "../../support/postgres/fresh-database.ts";
import { newStoreId, soon, write } from "../store-stage.ts";
import { alice, commit, errorOf, shown, unfit, untilWaiting } from "./fault-stage.ts";

/** Two hosts on one database, with one connection each. */
async function opened(...ofDatabase: readonly string[]) {
  const url = await freshDatabase();
  await asAdministrator(url, ofDatabase.map((each) => `ALTER DATABASE ${databaseOf(url)} SET ${each}`).join("; "));
  const [one, other] = [1, 2].map(() => openPostgres({ url, connectionsMax: 1 })) as [OpenedStore, OpenedStore];
  return { url, one, other, [Symbol.asyncDispose]: async () => void (await Promise.all([one.close(), other.close()])) };
}

test("records are not kept if one of them failed, whatever the work makes of it", async () => {
  await using stage = await opened();
  const error = await errorOf(
    stage.one.holdRecords(alice, soon(), async (records) => {
      await records.write("pending", "w-1", "kept?");
      // No text of the database can have this character.
      await records.write("pending", "w-2", "\0");
      expect(await errorOf(records.commit())).not.toBeNull();
    }),
  );
  expect(error).toMatchObject({ code: "STORAGE_FAILED" });
  expect(unfit(error)).toBeNull();
  // Reads at the same time share the connection, also the first ones.
  const found = await stage.one.holdRecords(alice, soon(), (records) =>
    Promise.all(["w-1", "w-2"].map((name) => records.read("pending", name))),
  );
  expect(found).toEqual([null, null]);
});

test("no session stays in a transaction", async () => {
  await using stage = await opened();
  for (let call = 0; call < 5; call++) {
    await errorOf(stage.one.holdUser(alice, soon(), () => Promise.reject(new Error("of the work"))));
    await errorOf(stage.one.holdRecords(alice, soon(), (records) => records.write("pending", "w-1", "\0")));
    await commit(stage.one, `${call}`);
  }
  // A notice to other hosts can be under way. A session that stays in a transaction keeps the test from ending.
  const busy = `SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND usename = 'memcell_host' AND state <> 'idle'`;
  while ((await asAdministrator(stage.url, busy)).length > 0);
  expect(await shown(stage.one)).toEqual({ versions: 5, a: "4", b: "4" });
});

test("the second change set of a hold follows what another host has committed in between", async () => {
  await using stage = await opened();
  await stage.one.holdUser(alice, soon(), async (held) => {
    await held.commit([write("a.md", "a")], []);
    await commit(stage.other, "b");
    await held.commit([write("c.md", "c")], []);
  });
  await stage.other.holdUser(alice, soon(), async (held) => {
    expect((await held.history.versions()).map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(await held.findings()).toEqual([]);
  });
});

const changing = (id: StoreId, path: string): HomeCommit => ({
  by: null,
  changes: [write(path, path, scopeOfStore(id))],
  seen: [],
});

test("so does that of another store, whose lock the first one has given away", async () => {
  await using stage = await opened();
  const [a, b] = [newStoreId(), newStoreId()];
  const commitTo = (id: StoreId, path: string): Promise<void> =>
    stage.other.holdStores([id], soon(), (held) => held.commit(id, changing(id, path)));
  await commitTo(b, "b.md");
  await stage.one.holdStores([a, b], soon(), async (held) => {
    await held.commit(a, changing(a, "a.md"));
    await commitTo(b, "of-another-host.md");
    await held.commit(b, changing(b, "later.md"));
  });
  await stage.other.holdStores([b], soon(), async (held) => {
    expect((await held.history(b).versions()).map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(await held.findings(b)).toEqual([]);
  });
});

test("the changes of several stores are made in one transaction: all of them, or none", async () => {
  await using stage = await opened();
  const [a, b] = [newStoreId(), newStoreId()];
  const done: string[] = [];
  const changes = [a, b].map(
    (id) => [id, { by: null, changes: [write("x.md", id, scopeOfStore(id))], seen: [] }] as const,
  );
  const gone = { kind: "remove", scope: scopeOfStore(b), path: "none.md" } as const;
  await stage.one.holdStores([a, b], soon(), async (held) => {
    const refused = held.commitEach(
      [changes[0] as ChangesOfStore, [b, { by: null, changes: [gone], seen: [] }]],
      (id) => done.push(id),
    );
    await expect(refused).rejects.toMatchObject({ code: "STORAGE_FAILED" });
    expect([done, held.has(a)]).toEqual([[], false]);
    await held.commitEach(changes, (id) => done.push(id));
  });
  expect(done).toEqual([a, b]);
  await stage.other.holdStores([a, b], soon(), async (held) =>
    expect([held.has(a), held.has(b)]).toEqual([true, true]),
  );
});

test("of two calls that each read what the other one changes, not both are made", async () => {
  await using stage = await opened();
  const [a, b] = [newStoreId(), newStoreId()];
  const meeting = new EventTarget();
  const both = Promise.all([once(meeting, a), once(meeting, b)]);
  let runs = 0;
  const change = (store: OpenedStore, written: StoreId, read: StoreId): Promise<void> =>
    store.holdStores([written, read], { ...soon(), onlyRead: [read] }, async (held) => {
      runs++;
      await held.reader(read).bytesOf("entries", "x.md");
      meeting.dispatchEvent(new Event(written));
      await both;
      const changes = [write("x.md", written, scopeOfStore(written))];
      await held.commit(written, { by: null, changes, seen: held.seen });
    });
  await Promise.all([change(stage.one, a, b), change(stage.other, b, a)]);
  expect(runs).toBe(3);
});

test("whoever has waited for the lock sees what the other has committed, whatever isolation is the default", async () => {
  await using stage = await opened("default_transaction_isolation = 'repeatable read'");
  const meeting = new EventTarget();
  const [held, waits] = [once(meeting, "held"), once(meeting, "waits")];
  const writing = stage.one.holdRecords(alice, soon(), async (records) => {
    expect(await records.read("runs", "n")).toBeNull();
    meeting.dispatchEvent(new Event("held"));
    await waits;
    await records.write("runs", "n", "1");
  });
  await held;
  const reading = stage.other.holdRecords(alice, soon(), (records) => records.read("runs", "n"));
  const admin = await administratorOf(stage.url);
  await untilWaiting(admin, 1);
  await admin.end();
  meeting.dispatchEvent(new Event("waits"));
  await writing;
  expect(await reading).toBe("1");
});

/** All that the function sets which begins each transaction: they change how a value is written, read or found. */
const settings = [
  "array_nulls = off",
  "bytea_output = 'escape'",
  "DateStyle = 'German'",
  "default_transaction_read_only = on",
  // Shows 1 digit of a number: the twelfth version would seem to be the tenth.
  "extra_float_digits = -14",
  "IntervalStyle = 'sql_standard'",
  "row_security = off",
  "search_path = public, pg_catalog",
  "standard_conforming_strings = off",
  "TimeZone = 'Asia/Kathmandu'",
  "transform_null_equals = on",
];

/** All that the server itself lists of which a role can have another value, and that has few values. */
async function switches(): Promise<string[]> {
  const listed = await asAdministrator(
    await freshDatabase(),
    `SELECT name, coalesce((SELECT v FROM unnest(enumvals) v WHERE v <> setting LIMIT 1),
      CASE setting WHEN 'on' THEN 'off' ELSE 'on' END) AS value
      FROM pg_settings WHERE context = 'user' AND (vartype = 'bool' OR cardinality(enumvals) > 1)
      AND name NOT LIKE 'transaction%' ORDER BY 1`,
  );
  return (listed as { name: string; value: string }[]).map(({ name, value }) => `${name} = '${value}'`);
}

test("a database is migrated and checked, and calls leave a history that is whole, with a part of all settings", async () => {
  const others = await switches();
  expect(others.length).toBeGreaterThan(50);
  // Every time with the one that was not understood once: the server shows policies in another form then.
  await using stage = await opened("quote_all_identifiers = on", ...oneIn(4, others), ...oneIn(2, settings));
  const administrator = (await sharedServer()).url("postgres", databaseOf(stage.url));
  const migrated = await memcell(["db", "migrate", "--store", administrator]);
  expect(migrated).toMatchObject({ status: 0, stdout: "nothing to do\n" });
  const checked = await memcell(["db", "check", "--store", stage.url]);
  expect(checked).toMatchObject({ status: 0, stdout: "OK: schema and role are correct\n" });
  await using runtime = await createRuntime({ store: postgresStore({ url: stage.url }), threadsMax: 1 });
  const body = "NULL {\"a\\nb\", 'c'} \\x41 ü";
  for (let round = 0; round < 12; round++) {
    const entry = { action: "upsert", type: "user", name: "a", description: "d", body: `${body} ${round}` };
    expect(await runtime.call("UpdateUserMemory", entry, { userId: alice })).toMatchObject({ ok: true });
  }
  const read = await runtime.call("ReadUserMemory", { name: "a" }, { userId: alice });
  expect(read).toMatchObject({ data: { body: `${body} 11` } });
  expect(await runtime.upkeep.inspect({ userId: alice })).toEqual([]);
});

test("acknowledged is durable, whatever the role says of commits", async () => {
  await using stage = await opened("synchronous_commit = off");
  const client = new pg.Client({ connectionString: stage.url });
  await client.connect();
  await client.query("BEGIN");
  const who = "11111111-1111-4111-8111-111111111111";
  await client.query("SELECT memcell.enter($1, 0, false, '{}', '{}', '{}', 1000)", [who]);
  expect((await client.query("SHOW synchronous_commit")).rows).toEqual([{ synchronous_commit: "on" }]);
  await client.end();
});
