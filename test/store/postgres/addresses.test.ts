/** An address can name several servers: hosts go on with the next one that can write. */
import { createRuntime, postgresStore } from "memcell";
import { expect, test } from "vitest";

import { addressesOf } from "../../../host/store/postgres/addresses.ts";
import { prepareDatabase } from "../../support/postgres/fresh-database.ts";
import { startPostgres } from "../../support/postgres/postgres-server.ts";

test.each([
  ["postgres://r@one/db", ["postgres://r@one/db"]],
  [
    "postgres://r@one:1,two/db?sslmode=require",
    ["postgres://r@one:1/db?sslmode=require", "postgres://r@two/db?sslmode=require"],
  ],
  ["postgres://r@/db?host=/a,/b&port=5,6", ["postgres://r@/db?host=%2Fa&port=5", "postgres://r@/db?host=%2Fb&port=6"]],
  ["postgres://r@/db?host=/a,/b&port=5", ["postgres://r@/db?host=%2Fa&port=5", "postgres://r@/db?host=%2Fb&port=5"]],
])("%s is %j", (url, addresses) => {
  expect(addressesOf(url)).toEqual(addresses);
});

test("a host goes on with another server when the first one ends, and skips a standby", async () => {
  await using first = await startPostgres();
  await using standby = await startPostgres();
  await using second = await startPostgres();
  for (const server of [first, standby, second]) {
    await server.createDatabase("memory");
    await prepareDatabase(server, "memory");
  }
  await standby.stop("fast");
  await standby.startAsStandby();
  const folders = [first, standby, second].map((server) => hostOf(server.url()));
  const url = `postgres://memcell_host@/memory?host=${folders.join(",")}&port=5432`;
  await using runtime = await createRuntime({ store: postgresStore({ url }), threadsMax: 1 });
  const upsert = (body: string): Promise<unknown> =>
    runtime.call(
      "UpdateUserMemory",
      { action: "upsert", type: "user", name: "a", description: "d", body },
      { userId: "alice" },
    );
  expect(await upsert("one")).toMatchObject({ ok: true, data: { outcome: "created" } });
  await first.stop("immediate");
  // A connection that was open is found to be dead, at the latest by the second call.
  const answers = [await upsert("two"), await upsert("three")];
  expect(answers[1]).toMatchObject({ ok: true });
  const admin = await second.connect("postgres", "memory");
  const { rows } = await admin.query("SELECT path FROM memcell.files ORDER BY path");
  await admin.end();
  expect(rows).toEqual([{ path: "MEMORY.md" }, { path: "a.md" }]);
});

const hostOf = (url: string): string => new URLSearchParams(url.slice(url.indexOf("?"))).get("host") ?? "";
