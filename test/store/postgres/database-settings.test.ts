/** What an administrator sets for the database changes no promise. */
import { once } from "node:events";

import { createRuntime, postgresStore } from "memcell";
import { expect, test } from "vitest";

import type { Store, StoreId, UserId } from "../../stage/store.ts";
import { databaseOf, freshDatabase, sharedServer } from "../../support/postgres/fresh-database.ts";
import { soon } from "./fault-server.ts";

const open = (url: string): Store => postgresStore({ url }).open(() => {});

async function databaseWith(setting: string): Promise<string> {
  const url = await freshDatabase();
  const admin = await (await sharedServer()).connect();
  await admin.query(`ALTER DATABASE ${databaseOf(url)} SET ${setting}`);
  await admin.end();
  return url;
}

test("whoever has waited for the lock sees what the other has committed, whatever isolation is the default", async () => {
  const url = await databaseWith("default_transaction_isolation = 'repeatable read'");
  const [one, other] = [open(url), open(url)];
  const meeting = new EventTarget();
  const [held, waits] = [once(meeting, "held"), once(meeting, "waits")];
  const writing = one.holdRecords("bob" as UserId, soon(), async (records) => {
    expect(await records.read("runs", "n")).toBeNull();
    meeting.dispatchEvent(new Event("held"));
    await waits;
    await records.write("runs", "n", "1");
  });
  await held;
  const reading = other.holdRecords("bob" as UserId, soon(), (records) => records.read("runs", "n"));
  await untilWaiting(url);
  meeting.dispatchEvent(new Event("waits"));
  await writing;
  expect(await reading).toBe("1");
  await Promise.all([one.close(), other.close()]);
});

test.for([
  "array_nulls = off",
  "default_transaction_read_only = on",
  "synchronous_commit = off",
  "search_path = public",
  "row_security = off",
  // Shows 1 digit of a number: the twelfth version would seem to be the tenth.
  "extra_float_digits = -14",
])("calls work with %s, and leave a history that is whole", async (setting) => {
  const url = await databaseWith(setting);
  await using runtime = await createRuntime({ store: postgresStore({ url }), threadsMax: 1 });
  const entry = { action: "upsert", type: "user", name: "a", description: "d" };
  for (let round = 0; round < 12; round++) {
    const upsert = { ...entry, body: `NULL ${round}` };
    expect(await runtime.call("UpdateUserMemory", upsert, { userId: "alice" })).toMatchObject({ ok: true });
  }
  expect(await runtime.upkeep.inspect({ userId: "alice" })).toEqual([]);
});

test("of two calls that each read what the other one changes, not both are made", async () => {
  const url = await freshDatabase();
  const [one, other] = [open(url), open(url)];
  const [a, b] = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"] as StoreId[] as [
    StoreId,
    StoreId,
  ];
  const meeting = new EventTarget();
  const both = Promise.all([once(meeting, a), once(meeting, b)]);
  const runs = { [a]: 0, [b]: 0 };
  const change = (store: Store, written: StoreId, read: StoreId): Promise<void> =>
    store.shared.hold([written, read], { ...soon(), onlyRead: [read] }, async (held) => {
      runs[written] = (runs[written] ?? 0) + 1;
      await held.reader(read).bytesOf("entries", "x.md");
      meeting.dispatchEvent(new Event(written));
      await both;
      const changes = [{ kind: "write" as const, scope: `store:${written}`, path: "x.md", content: written }];
      await held.commit({ by: null, changes, seen: held.seen });
    });
  await Promise.all([change(one, a, b), change(other, b, a)]);
  expect((runs[a] ?? 0) + (runs[b] ?? 0)).toBe(3);
  await Promise.all([one.close(), other.close()]);
});

/** Waits until somebody waits for a lock. */
async function untilWaiting(url: string): Promise<void> {
  const admin = await (await sharedServer()).connect("postgres", databaseOf(url));
  for (;;) {
    const { rows } = await admin.query("SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted");
    if (rows.length > 0) break;
  }
  await admin.end();
}
