import pg from "pg";

import { migrate } from "../../../host/store/postgres/migrate.ts";
import { startPostgres } from "./postgres-server.ts";
import type { PostgresServer } from "./postgres-server.ts";

/** The role that hosts of tests log in as: no more than a member of the application's role. */
const hostRole = "memcell_host";
const template = "memcell_template";

let started: Promise<PostgresServer> | null = null;
let count = 0;

/** The address of a new database with the tables of memcell. All databases of a process are on one server. */
export async function freshDatabase(): Promise<string> {
  const server = await sharedServer();
  const name = `memcell_${++count}`;
  const admin = await server.connect();
  try {
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  } finally {
    await admin.end();
  }
  return server.url(hostRole, name);
}

/** The address of a database of this name that has nothing but the tables. Emptied anew each time. */
export async function emptiedDatabase(name: string): Promise<string> {
  const server = await sharedServer();
  let admin = emptied.get(name);
  if (admin === undefined) {
    const creator = await server.connect();
    await creator.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
    await creator.end();
    admin = await server.connect("postgres", name);
    emptied.set(name, admin);
  }
  // For a few rows quicker than TRUNCATE, which makes new files. Contents refer to homes, and files to contents.
  await admin.query(
    tables
      .toReversed()
      .map((table) => `DELETE FROM memcell.${table}`)
      .join("; "),
  );
  return server.url(hostRole, name);
}

const emptied = new Map<string, pg.Client>();

/** Those that have something of users. */
export const tables = ["homes", "contents", "files", "changes", "records", "grants", "left_stores", "erased"];

/** The database that an address names. */
export const databaseOf = (url: string): string => /@[^/]*\/([^?]+)/.exec(url)?.[1] ?? "";

/** Waits until so many hosts listen for changes in the database. */
export async function untilListening(url: string, hosts: number): Promise<void> {
  const server = await sharedServer();
  const admin = await server.connect("postgres", databaseOf(url));
  for (;;) {
    const { rows } = await admin.query(
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'",
    );
    if (rows.length >= hosts) break;
  }
  await admin.end();
}

/** Ends with the process. */
export function sharedServer(): Promise<PostgresServer> {
  started ??= startMigrated();
  return started;
}

async function startMigrated(): Promise<PostgresServer> {
  const server = await startPostgres({ maxConnections: 300 });
  await server.createDatabase(template);
  await prepareDatabase(server, template);
  return server;
}

/** Gives a database the tables of memcell, and the server a role for hosts. */
export async function prepareDatabase(server: PostgresServer, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: server.url("postgres", name) });
  await client.connect();
  try {
    await migrate(client);
    await client.query(`DO $$ BEGIN
      IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${hostRole}') THEN
        CREATE ROLE ${hostRole} LOGIN IN ROLE memcell_app;
      END IF;
    END $$`);
  } finally {
    await client.end();
  }
}
