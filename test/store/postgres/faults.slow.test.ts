/** The server is away, or others keep what a call needs: the call ends in time, with a code, and nothing is left of it. */
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";

import { createRuntime, postgresStore } from "memcell";
import { describe, expect, test } from "vitest";

import { openPostgres } from "../../stage/open-store.ts";
import type { OpenedStore, UserId } from "../../stage/store.ts";
import { CuttingProxy } from "../../support/postgres/cutting-proxy.ts";
import { freshDatabase } from "../../support/postgres/fresh-database.ts";
import { soon, write } from "../store-stage.ts";
import { alice, commit, errorOf, faultServer, isInner, openFaulty, shown, unfit, untilWaiting } from "./fault-stage.ts";

const open = (url: string, connectionsMax = 1): OpenedStore & AsyncDisposable => {
  const store = openPostgres({ url, connectionsMax });
  return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() });
};

async function expectFailure(call: Promise<unknown>, code: string): Promise<void> {
  const error = await errorOf(call);
  expect(error).toMatchObject({ code });
  expect(unfit(error)).toBeNull();
}

describe("the server is away", () => {
  test.for(["fast", "immediate"] as const)("a runtime works again when it is back (%s)", async (mode) => {
    await using server = await faultServer();
    const store = postgresStore({ url: server.host });
    await server.stop(mode);
    await expectFailure(createRuntime({ store }), "STORAGE_BUSY");
    await server.start();
    const runtime = await createRuntime({ store: postgresStore({ url: server.host }) });
    const change = (body: string): ReturnType<typeof runtime.call> => {
      const input = { action: "upsert", name: "one", description: "d", type: "user", body };
      return runtime.call("UpdateUserMemory", input, { userId: alice });
    };
    expect(await change("first")).toMatchObject({ ok: true });
    for (const round of ["second", "third"]) {
      await server.stop(mode);
      const failed = await change(`never ${round}`);
      expect(failed).toMatchObject({ ok: false, error: { code: "STORAGE_BUSY", retryable: true } });
      if (!failed.ok) expect(isInner(failed.error.message) ? failed.error : null).toBeNull();
      await server.start();
      expect(await change(round)).toMatchObject({ ok: true });
    }
    expect(await runtime.upkeep.history({ userId: alice }, { path: "one.md" })).toHaveLength(3);
    await runtime.close();
  });

  /** What becomes of a call if the server is back at once, `cut-connections` shows for each message. */
  test("a call that reads after it went fails, without a change", async () => {
    await using server = await faultServer();
    await using store = open(server.host);
    const reading = store.holdUser(alice, soon(), async (held) => {
      await server.stop("immediate");
      await held.commit([write("a.md", "never")], []);
    });
    await expectFailure(reading, "STORAGE_BUSY");
    await server.start();
    expect(await shown(store)).toEqual({ versions: 0, a: null, b: null });
  });

  test.for([true, false])("a call with nothing left but the commit runs again; it is back: %s", async (isBack) => {
    await using server = await faultServer();
    await using store = open(server.host);
    let attempts = 0;
    const writing = store.holdRecords(alice, soon(), async (records) => {
      attempts++;
      await records.write("pending", "w-1", `${attempts}`);
      if (attempts > 1) return;
      await server.stop("immediate");
      if (isBack) await server.start();
    });
    if (isBack) await writing;
    else {
      await expectFailure(writing, "STORAGE_BUSY");
      await server.start();
    }
    const read = await store.holdRecords(alice, soon(), (records) => records.read("pending", "w-1"));
    // A hold begins by asking the database, so the work is begun again only if that is back.
    expect([attempts, read]).toEqual(isBack ? [2, "2"] : [1, null]);
  });
});

async function silenced(): Promise<{ store: OpenedStore; proxy: CuttingProxy } & AsyncDisposable> {
  const url = await freshDatabase();
  const proxy = await CuttingProxy.open(url);
  const store = openFaulty(proxy.urlOf(url), { connectionsMax: 1, answerMs: 500 });
  return {
    store,
    proxy,
    async [Symbol.asyncDispose]() {
      await store.close();
      await proxy[Symbol.asyncDispose]();
    },
  };
}

describe("the network swallows everything without a word", () => {
  test("a call on a connection that has fallen silent is made on another one", async () => {
    await using stage = await silenced();
    const { store, proxy } = stage;
    await commit(store, "one");
    proxy.silence();
    await store.holdUser(alice, soon(500), (held) => held.commit([write("a.md", "two")], []));
    expect(await shown(store)).toEqual({ versions: 2, a: "two", b: "one" });
  });

  test("a call whose connection falls silent at the commit finds out that nothing was made, and runs again", async () => {
    await using stage = await silenced();
    const { store, proxy } = stage;
    let attempts = 0;
    await store.holdRecords(alice, soon(500), async (records) => {
      attempts++;
      await records.write("pending", "w-1", `${attempts}`);
      if (attempts === 1) proxy.silence();
    });
    expect(await store.holdRecords(alice, soon(), (records) => records.read("pending", "w-1"))).toBe("2");
  });

  test("a server that accepts the login and then says nothing fails the start of a runtime", async () => {
    // The messages AuthenticationOk and ReadyForQuery.
    const welcome = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => socket.write(welcome));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const store = postgresStore({ url: `postgres://host:secret@127.0.0.1:${port}/memory` });
    await expect(createRuntime({ store })).rejects.toMatchObject({
      code: "STORAGE_BUSY",
      message: "Cannot use the database: the database cannot be reached",
    });
    server.close();
  });
});

/** A store with a first version, an administrator, and the lock that every call of the user takes. */
async function stageOf() {
  const server = await faultServer();
  const admin = await server.connect("postgres", "memory");
  const store = open(server.host);
  await commit(store, "one");
  const lock = await store.holdUser(alice, soon(), async ({ reader }) => {
    await reader.scopes();
    const { rows } = await admin.query<{ lock: string }>(
      "SELECT (classid::bigint << 32 | objid::bigint)::text AS lock FROM pg_locks WHERE locktype = 'advisory'",
    );
    return rows[0]?.lock ?? "";
  });
  return {
    server,
    admin,
    store,
    lock,
    [Symbol.asyncDispose]: async () => {
      await store.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

async function expectUsable(store: OpenedStore, versions: number, text: string): Promise<void> {
  expect(await shown(store)).toEqual({ versions, a: text, b: text });
  await commit(store, "next");
  expect(await shown(store)).toEqual({ versions: versions + 1, a: "next", b: "next" });
}

describe("others keep what a call needs", () => {
  /** By their names, what an administrator's session does until it is rolled back. */
  const blocks: Readonly<Record<string, (lock: string) => string>> = {
    "writes of the history": () => "LOCK memcell.changes IN SHARE MODE",
    "the user's row": () => "SELECT FROM memcell.homes FOR UPDATE",
    "the user's lock": (lock) => `SELECT pg_advisory_xact_lock(${lock})`,
  };

  const rows = Object.entries(blocks).flatMap(([name, block]) => [
    { name, block, than: "the call waits", code: "BUSY", waitMs: 300 },
    { name, block, than: "the role's statements may take", code: "STORAGE_BUSY", waitMs: 30_000 },
  ]);

  test.for(rows)("$name, for longer than $than", async ({ block, code, waitMs }) => {
    await using stage = await stageOf();
    const { admin, lock, server } = stage;
    if (code === "STORAGE_BUSY") await admin.query("ALTER ROLE memcell_host SET statement_timeout = '300ms'");
    await admin.query("BEGIN");
    await admin.query(block(lock));
    await using store = open(server.host);
    const options = soon(waitMs);
    await expectFailure(
      store.holdUser(alice, options, (held) => held.commit([write("a.md", "two")], [])),
      code,
    );
    if (code === "BUSY") expect(performance.now()).toBeGreaterThan(options.until);
    await admin.query("ROLLBACK");
    await expectUsable(store, 1, "one");
  });

  test("a caller who gives up ends the wait at once, and the session in the server soon", async () => {
    await using stage = await stageOf();
    const { admin, store, lock } = stage;
    await admin.query("BEGIN");
    await admin.query(`SELECT pg_advisory_xact_lock(${lock})`);
    const control = new AbortController();
    const call = errorOf(commit(store, "two", control.signal));
    await untilWaiting(admin, 1);
    const reason = new Error("the caller's");
    control.abort(reason);
    expect(await call).toBe(reason);
    // The store has one connection: it is free again.
    await store.holdUser("bob" as UserId, soon(5_000), (held) => held.commit([], []));
    await untilWaiting(admin, 0);
    await admin.query("ROLLBACK");
    await expectUsable(store, 1, "one");
  });

  test("a caller who gives up during the commit learns what became of it", async () => {
    await using stage = await stageOf();
    const { admin, store } = stage;
    await admin.query("BEGIN; LOCK memcell.changes IN SHARE MODE");
    const control = new AbortController();
    const call = errorOf(commit(store, "two", control.signal));
    await untilWaiting(admin, 1);
    control.abort(new Error("the caller's"));
    await admin.query("ROLLBACK");
    expect(await call).toBeNull();
    await expectUsable(store, 2, "two");
  });
});
