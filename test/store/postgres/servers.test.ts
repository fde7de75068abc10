/** How a database is made, and which servers an address names. */
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";

import { createRuntime, postgresStore } from "memcell";
import { expect, test } from "vitest";

import { memcell } from "../../stage/command.ts";
import { prepareDatabase } from "../../support/postgres/fresh-database.ts";
import { startPostgres } from "../../support/postgres/postgres-server.ts";

const db = (action: string, url: string): Promise<unknown> => memcell(["db", action, "--store", url]);

test("a role that can create roles migrates a database of its own, and again; a schema of others is not used", async () => {
  await using server = await startPostgres();
  for (const role of ["installer login createrole", "evil login"]) await server.run(`create role ${role}`);
  for (const role of ["installer", "evil"]) await server.run(`create database of_${role} owner ${role}`);
  const own = server.url("installer", "of_installer");
  const applied = expect.stringMatching(/^(?:applied \d{4}-[a-z-]+\n)+$/);
  expect(await db("migrate", own)).toMatchObject({ status: 0, stdout: applied });
  expect(await db("migrate", own)).toMatchObject({ status: 0, stdout: "nothing to do\n" });
  await server.run("create role host login in role memcell_app");
  expect(await db("check", server.url("host", "of_installer"))).toMatchObject({
    status: 0,
    stdout: "OK: schema and role are correct\n",
  });
  const evil = await server.connect("evil", "of_evil");
  await evil.query("create schema memcell");
  expect(await db("migrate", server.url("postgres", "of_evil"))).toMatchObject({
    status: 1,
    stderr: expect.stringContaining("the database denies it"),
  });
  const found = "select from pg_class where relnamespace = 'memcell'::regnamespace";
  expect((await evil.query(found)).rows).toEqual([]);
  await evil.end();
});

test("a host goes on with another server when the first one ends, and skips a standby", async () => {
  await using first = await startPostgres();
  await using standby = await startPostgres();
  await using second = await startPostgres();
  for (const server of [first, standby, second]) await prepareDatabase(server, "memory");
  await standby.stop("fast");
  await standby.startAsStandby();
  const folders = [first, standby, second].map((server) => new URLSearchParams(server.url().split("?")[1]).get("host"));
  const url = `postgres://memcell_host@/memory?host=${folders.join(",")}&port=5432`;
  await using runtime = await createRuntime({ store: postgresStore({ url }), threadsMax: 1 });
  const upsert = (body: string): Promise<unknown> => {
    const entry = { action: "upsert", type: "user", name: "a", description: "d", body };
    return runtime.call("UpdateUserMemory", entry, { userId: "alice" });
  };
  expect(await upsert("one")).toMatchObject({ ok: true, data: { outcome: "created" } });
  await first.stop("immediate");
  // A connection that was open is found to be dead, at the latest by the second call.
  const answers = [await upsert("two"), await upsert("three")];
  expect(answers[1]).toMatchObject({ ok: true });
  const { rows } = await second.run("SELECT path FROM memcell.files ORDER BY path", "memory");
  expect(rows).toEqual([{ path: "MEMORY.md" }, { path: "a.md" }]);
});

test("all servers that an address names before its path are asked, in order", async () => {
  const asked: number[] = [];
  const servers = [0, 1].map((at) =>
    createServer((socket) => {
      if (!asked.includes(at)) asked.push(at);
      socket.destroy();
    }).listen(0),
  );
  const [a, b] = servers.map((server) => (server.address() as AddressInfo).port);
  const url = `postgres://r:x@127.0.0.1:${a},127.0.0.1:${b}/db?sslmode=disable`;
  await expect(createRuntime({ store: postgresStore({ url }) })).rejects.toMatchObject({ code: "STORAGE_BUSY" });
  expect(asked).toEqual([0, 1]);
  for (const server of servers) server.close();
});
