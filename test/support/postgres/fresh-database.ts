/** Databases with the tables of memcell. Those of one process are on one server, which ends with the process. */
import type pg from "pg";

import { migrate } from "../../../host/store/postgres/schema.ts";
import { startPostgres } from "./postgres-server.ts";
import type { PostgresServer } from "./postgres-server.ts";

/** The role that hosts of tests log in as: no more than a member of the application's role. */
const hostRole = "memcell_host";
const template = "memcell_template";

let started: Promise<PostgresServer> | null = null;
let count = 0;

/** The address of a new database. */
export async function freshDatabase(name = `memcell_${++count}`): Promise<string> {
  const server = await sharedServer();
  await server.run(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  return server.url(hostRole, name);
}

const emptied = new Map<string, pg.Client>();

/** The address of a database of this name that has nothing but the tables. Emptied anew each time. */
export async function emptiedDatabase(name: string): Promise<string> {
  const server = await sharedServer();
  if (!emptied.has(name)) {
    await freshDatabase(name);
    emptied.set(name, await server.connect("postgres", name));
  }
  // For a few rows quicker than TRUNCATE, which makes new files. Contents refer to homes, and files to contents.
  const deletions = tables.toReversed().map((table) => `DELETE FROM memcell.${table}`);
  await emptied.get(name)?.query(deletions.join("; "));
  return server.url(hostRole, name);
}

/** Those that have something of users. */
export const tables = ["homes", "contents", "files", "changes", "records", "grants", "left_stores", "erased"];

/** The database that an address names. */
export const databaseOf = (url: string): string => /@[^/]*\/([^?]+)/.exec(url)?.[1] ?? "";

/** Runs a statement in a database of the shared server, as somebody with all rights. Returns the rows. */
export async function asAdministrator(url: string, statement: string): Promise<unknown[]> {
  const { rows } = await (await sharedServer()).run(statement, databaseOf(url));
  return rows as unknown[];
}

/** A connection for several such statements. */
export const administratorOf = async (url: string): Promise<pg.Client> =>
  (await sharedServer()).connect("postgres", databaseOf(url));

/** Waits until so many hosts listen for changes in the database. */
export async function untilListening(url: string, hosts: number): Promise<void> {
  const listening = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'";
  while ((await asAdministrator(url, listening)).length < hosts);
}

export function sharedServer(): Promise<PostgresServer> {
  started ??= startMigrated();
  return started;
}

async function startMigrated(): Promise<PostgresServer> {
  const server = await startPostgres({ settings: { max_connections: "300" } });
  await prepareDatabase(server, template);
  return server;
}

/** Makes a database with the tables of memcell, and a role for hosts. Returns the address for a host. */
export async function prepareDatabase(server: PostgresServer, name: string): Promise<string> {
  await server.run(`CREATE DATABASE ${name}`);
  const client = await server.connect("postgres", name);
  await migrate(client);
  await client.query(`CREATE ROLE ${hostRole} LOGIN IN ROLE memcell_app`);
  await client.end();
  return server.url(hostRole, name);
}
