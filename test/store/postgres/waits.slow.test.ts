/** Others keep what a call needs: it gives up in time, and nothing of it is left. */
import { postgresStore } from "memcell";
import { expect, test } from "vitest";

import { lockOf } from "../../../host/store/postgres/home-place.ts";
import { ownStoreOf } from "../../stage/store.ts";
import type { Store, UserId } from "../../stage/store.ts";
import { alice, commit, errorOf, faultServer, shown, soon, untilWaiting } from "./fault-server.ts";
import { unfit } from "./inner-words.ts";

const lock = lockOf({ tenant: ownStoreOf(alice), kind: "user" });

const open = (url: string): Store & AsyncDisposable => {
  const store = postgresStore({ url, connectionsMax: 1 }).open(() => {});
  return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() });
};

/** What an administrator's session does, and how it ends it. */
const blocks = {
  "all files": ["LOCK memcell.files IN ACCESS EXCLUSIVE MODE", "ROLLBACK"],
  "writes of the history": ["LOCK memcell.changes IN SHARE MODE", "ROLLBACK"],
  "the user's row": ["SELECT FROM memcell.homes FOR UPDATE", "ROLLBACK"],
  "the user's lock": [`SELECT pg_advisory_lock(${lock})`, `ROLLBACK; SELECT pg_advisory_unlock_all()`],
} as const;

test.for(Object.entries(blocks))("%s, kept longer than the role's statements may take", async ([, [keep, free]]) => {
  await using server = await faultServer();
  const admin = await server.connect("postgres", "memory");
  await admin.query("ALTER ROLE memcell_host SET statement_timeout = '300ms'");
  await using store = open(server.host);
  await commit(store, "one");
  await admin.query("BEGIN");
  await admin.query(keep);
  const error = await errorOf(commit(store, "two"));
  expect(error).toMatchObject({ code: "STORAGE_BUSY" });
  expect(unfit(error)).toBeNull();
  await admin.query(free);
  expect(await shown(store)).toEqual({ versions: 1, a: "one", b: "one" });
  await commit(store, "three");
  expect(await shown(store)).toEqual({ versions: 2, a: "three", b: "three" });
});

test.for(Object.entries(blocks))("%s, kept longer than the call waits", async ([, [keep, free]]) => {
  await using server = await faultServer();
  const admin = await server.connect("postgres", "memory");
  await using store = open(server.host);
  await commit(store, "one");
  await admin.query("BEGIN");
  await admin.query(keep);
  const options = soon(300);
  const error = await errorOf(
    store.hold(alice, options, (held) =>
      held.commit([{ kind: "write", scope: "memory", path: "a.md", content: "two" }], []),
    ),
  );
  expect(performance.now()).toBeGreaterThan(options.until);
  expect(error).toMatchObject({ code: "BUSY" });
  expect(unfit(error)).toBeNull();
  await admin.query(free);
  expect(await shown(store)).toEqual({ versions: 1, a: "one", b: "one" });
  await commit(store, "three");
  expect(await shown(store)).toEqual({ versions: 2, a: "three", b: "three" });
});

test("another host holds the user", async () => {
  await using server = await faultServer();
  await using store = open(server.host);
  await using other = open(server.host);
  await other.hold(alice, soon(), async (held) => {
    const error = await errorOf(store.hold(alice, soon(300), (late) => late.commit([], [])));
    expect(error).toMatchObject({ code: "BUSY" });
    expect(unfit(error)).toBeNull();
    await held.commit([{ kind: "write", scope: "memory", path: "a.md", content: "held" }], []);
  });
  await commit(store, "after");
  expect(await shown(store)).toEqual({ versions: 2, a: "after", b: "after" });
});

test("a caller who gives up ends the wait at once, and the session in the server soon", async () => {
  await using server = await faultServer();
  const admin = await server.connect("postgres", "memory");
  await using store = open(server.host);
  await commit(store, "one");
  await admin.query(`SELECT pg_advisory_lock(${lock})`);
  const control = new AbortController();
  const call = errorOf(commit(store, "two", control.signal));
  await untilWaiting(admin, 1);
  const reason = new Error("the caller's");
  control.abort(reason);
  expect(await call).toBe(reason);
  // The store has one connection: it is free again.
  expect(await errorOf(store.hold("bob" as UserId, soon(5_000), (held) => held.commit([], [])))).toBeNull();
  await untilWaiting(admin, 0);
  await admin.query(`SELECT pg_advisory_unlock_all()`);
  expect(await shown(store)).toEqual({ versions: 1, a: "one", b: "one" });
});

test("a caller who gives up during the commit learns what became of it", async () => {
  await using server = await faultServer();
  const admin = await server.connect("postgres", "memory");
  await using store = open(server.host);
  await commit(store, "one");
  await admin.query("BEGIN; LOCK memcell.changes IN SHARE MODE");
  const control = new AbortController();
  const call = errorOf(commit(store, "two", control.signal));
  await untilWaiting(admin, 1);
  control.abort(new Error("the caller's"));
  await admin.query("ROLLBACK");
  expect(await call).toBeNull();
  expect(await shown(store)).toEqual({ versions: 2, a: "two", b: "two" });
});
