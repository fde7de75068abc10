/** Hosts on one database tell each other whose memory has changed, and nothing of the change. */
import { EventEmitter, once } from "node:events";

import { createRuntime, postgresStore } from "memcell";
import type { Runtime } from "memcell";
import pg from "pg";
import { expect, test } from "vitest";

import { asAdministrator, freshDatabase, untilListening } from "../../support/postgres/fresh-database.ts";

const open = (url: string): Promise<Runtime> => createRuntime({ store: postgresStore({ url }), threadsMax: 1 });

/** What a host hears about a user, and the next time that it hears something. */
class Listener extends EventEmitter {
  count = 0;
  readonly heard = (): void => {
    this.count++;
    this.emit("heard");
  };
  next(): Promise<unknown> {
    return once(this, "heard");
  }
}

const upsert = (runtime: Runtime, userId: string, body: string): Promise<unknown> =>
  runtime.call("UpdateUserMemory", { action: "upsert", type: "user", name: "a", description: "d", body }, { userId });

test("another host's change is heard by those who listen for the user, and by nobody else, whatever another listener does", async () => {
  const url = await freshDatabase();
  await using one = await open(url);
  await using other = await open(url);
  const [ofAlice, ofBob, own] = [new Listener(), new Listener(), new Listener()];
  other.onChangeElsewhere("alice", () => {
    throw new Error("a listener's own mistake");
  });
  other.onChangeElsewhere("alice", ofAlice.heard);
  other.onChangeElsewhere("bob", ofBob.heard);
  one.onChangeElsewhere("alice", own.heard);
  await untilListening(url, 2);
  const next = ofAlice.next();
  expect(await upsert(one, "alice", "one")).toMatchObject({ ok: true });
  await next;
  const again = own.next();
  expect(await upsert(other, "alice", "two")).toMatchObject({ ok: true });
  await again;
  expect([ofAlice.count, ofBob.count, own.count]).toEqual([1, 0, 1]);
});

test("what everybody hears has no user's id and no content", async () => {
  const url = await freshDatabase();
  const spy = new pg.Client({ connectionString: url });
  await spy.connect();
  await spy.query("LISTEN memcell_changes");
  const notice = once(spy, "notification");
  await using runtime = await open(url);
  const userId = "11111111-1111-4111-8111-111111111111";
  await upsert(runtime, userId, "a secret");
  const [{ payload }] = (await notice) as [{ payload: string }];
  expect(payload).toMatch(/^[0-9a-f-]{36} [0-9a-f]{32}$/);
  expect(payload).not.toContain(userId.slice(0, 8));
  await spy.end();
});

test("a host that has lost its connection asks what has changed, and hears again", async () => {
  const url = await freshDatabase();
  await using one = await open(url);
  await using other = await open(url);
  const ofAlice = new Listener();
  other.onChangeElsewhere("alice", ofAlice.heard);
  await untilListening(url, 1);
  const next = ofAlice.next();
  await asAdministrator(
    url,
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'",
  );
  await upsert(one, "alice", "meanwhile");
  await next;
  await untilListening(url, 1);
  const later = ofAlice.next();
  await upsert(one, "alice", "later");
  await later;
});
