/** The servers that the suites of this folder start. */
import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { checkDatabase } from "../../../host/store/postgres/check-database.ts";
import { migrate, migrations } from "../../../host/store/postgres/migrate.ts";
import { startPostgres } from "../../support/postgres/postgres-server.ts";
import { installedPrograms } from "../../support/postgres/programs.ts";
import { skipWithReason } from "../../support/skip-with-reason.ts";

test("a server answers, with the settings asked for", async () => {
  await using server = await startPostgres({ fsync: true, maxConnections: 17, settings: { work_mem: "5MB" } });
  await server.createDatabase("a name");
  const client = await server.connect("postgres", "a name");
  const { rows } = await client.query(
    `select current_user as role, current_database() as database, current_setting('server_encoding') as encoding,
      current_setting('fsync') as fsync, current_setting('max_connections') as connections,
      current_setting('work_mem') as memory, current_setting('listen_addresses') as addresses,
      current_setting('server_version_num')::int / 10000 as major`,
  );
  expect(rows).toEqual([
    {
      role: "postgres",
      database: "a name",
      encoding: "UTF8",
      fsync: "on",
      connections: "17",
      memory: "5MB",
      addresses: "",
      major: 18,
    },
  ]);
});

test("each role has its own login", async () => {
  await using server = await startPostgres();
  const owner = await server.connect();
  await owner.query("create role alice login");
  const alice = await server.connect("alice");
  expect((await alice.query("select current_user, session_user")).rows).toEqual([
    { current_user: "alice", session_user: "alice" },
  ]);
  await expect(alice.query("create role mallory")).rejects.toThrow("permission denied to create role");
  await expect(server.connect("nobody")).rejects.toThrow('role "nobody" does not exist');
});

test("a role that can create roles migrates a database of its own, and again", async () => {
  await using server = await startPostgres();
  const admin = await server.connect();
  await admin.query("create role installer login createrole");
  await admin.query("create database memory owner installer");
  await admin.end();
  const installer = await server.connect("installer", "memory");
  expect(await migrate(installer)).toEqual(migrations);
  expect(await migrate(installer)).toEqual([]);
  await installer.query("create role host login in role memcell_app");
  const host = await server.connect("host", "memory");
  expect(await checkDatabase(host)).toEqual([]);
  await Promise.all([installer.end(), host.end()]);
});

test("a schema that somebody has made before is not used", async () => {
  await using server = await startPostgres();
  const admin = await server.connect();
  await admin.query("create role evil login");
  await admin.query("create database memory owner evil");
  const evil = await server.connect("evil", "memory");
  await evil.query("create schema memcell");
  const migrator = await server.connect("postgres", "memory");
  await expect(migrate(migrator)).rejects.toThrow("the schema memcell belongs to another role");
  await Promise.all([admin.end(), evil.end(), migrator.end()]);
});

test("two servers side by side have nothing in common", async () => {
  await using one = await startPostgres();
  await using other = await startPostgres();
  const client = await one.connect();
  await client.query("create table kept (x int)");
  const table = "select to_regclass('kept')::text as name";
  expect((await client.query(table)).rows).toEqual([{ name: "kept" }]);
  expect((await (await other.connect()).query(table)).rows).toEqual([{ name: null }]);
});

test.for(["fast", "immediate"] as const)("rows survive a stop (%s)", async (mode) => {
  await using server = await startPostgres();
  const before = await server.connect();
  await before.query("create table kept (x int)");
  await before.query("insert into kept values (1)");
  await before.query("begin");
  await before.query("insert into kept values (2)");
  await server.stop(mode);
  await expect(before.query("select")).rejects.toThrow("not queryable");

  await server.start();
  const after = await server.connect();
  expect((await after.query("select x from kept")).rows).toEqual([{ x: 1 }]);
  expect(server.logText().includes("automatic recovery in progress")).toBe(mode === "immediate");
});

test("a server that cannot start says why", async () => {
  const started = startPostgres({ settings: { wal_level: "sideways" } });
  await expect(started).rejects.toThrow('invalid value for parameter "wal_level": "sideways"');
});

test("the installed version starts too", async (context) => {
  if (installedPrograms() === null) skipWithReason(context, "no PostgreSQL server is installed");
  await using server = await startPostgres({ version: "installed" });
  const client = await server.connect();
  expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
});

test("no server runs as root", async (context) => {
  if (process.platform !== "linux") skipWithReason(context, "only Linux has /proc");
  await using server = await startPostgres();
  const [, uid] = /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${server.pid}/status`, "utf8")) ?? [];
  expect(Number(uid)).toBeGreaterThan(0);
});
