/** The network swallows everything without a word: no call waits for it without end, and each learns what became of it. */
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";

import { createRuntime, postgresStore } from "memcell";
import { expect, test } from "vitest";

import { ChangeNews } from "../../../host/store/postgres/change-news.ts";
import { Database } from "../../../host/store/postgres/database.ts";
import { Holds } from "../../../host/store/postgres/holds.ts";
import { PostgresStore } from "../../../host/store/postgres/postgres-store.ts";
import { defaultSettings } from "../../stage/store.ts";
import { CuttingProxy } from "../../support/postgres/cutting-proxy.ts";
import { freshDatabase } from "../../support/postgres/fresh-database.ts";
import { alice, commit, shown, soon } from "./fault-server.ts";

function open(url: string): PostgresStore {
  const setup = { url, connectionsMax: 1, isRelaxed: false, clock: () => 1, note: () => {}, answerMs: 500 };
  const database = new Database(setup);
  return new PostgresStore({ database, news: new ChangeNews(database), holds: new Holds(), settings: defaultSettings });
}

test("a call on a connection that has fallen silent is made on another one", async () => {
  const url = await freshDatabase();
  await using proxy = await CuttingProxy.open(url);
  const store = open(proxy.urlOf(url));
  await commit(store, "one");
  proxy.silence();
  await store.hold(alice, soon(500), (held) =>
    held.commit([{ kind: "write", scope: "memory", path: "a.md", content: "two" }], []),
  );
  expect(await shown(store)).toEqual({ versions: 2, a: "two", b: "one" });
  await store.close();
});

test("a call whose connection falls silent at the commit finds out that nothing was made, and runs again", async () => {
  const url = await freshDatabase();
  await using proxy = await CuttingProxy.open(url);
  const store = open(proxy.urlOf(url));
  let attempts = 0;
  await store.holdRecords(alice, soon(500), async (records) => {
    attempts++;
    await records.write("pending", "w-1", `${attempts}`);
    if (attempts === 1) proxy.silence();
  });
  expect(await store.holdRecords(alice, soon(), (records) => records.read("pending", "w-1"))).toBe("2");
  await store.close();
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
