/** Brings a database to the present version: plain SQL files in order, each in the transaction that notes it. */
import { readBoundedFile } from "../../disk/bounded-file.ts";
import { packageFile } from "../../values/package-file.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { Client } from "./client.ts";

/** In the order in which they are applied. A file that was released is never changed. */
export const migrations = [
  "0001-roles",
  "0002-tables",
  "0003-policies",
  "0004-changes",
  "0005-reads",
  "0006-listings",
  "0007-rights",
  "0008-settings-and-runs",
] as const;

/** The first file makes what belongs to the server. All others run as the owner of the tables. */
export const ownerRole = "memcell_owner";

/** Two migrations at a time wait for each other. */
const lock = "7308604896";

/** Begins a transaction on the administrator's connection, whatever its role and its database have as defaults. */
export const plainBegin = (access: "READ WRITE" | "READ ONLY"): string =>
  `BEGIN ISOLATION LEVEL READ COMMITTED ${access};
  SET LOCAL search_path = pg_catalog, pg_temp; SET LOCAL row_security = on; SET LOCAL standard_conforming_strings = on;
  SET LOCAL default_tablespace = ''; SET LOCAL default_table_access_method = heap`;

/** Returns the files that were applied. Throws `STORAGE_FAILED` if the database is newer. */
export async function migrate(client: Client): Promise<string[]> {
  await client.query(plainBegin("READ WRITE"));
  try {
    await client.query("SELECT pg_advisory_xact_lock($1)", [lock]);
    const applied = await appliedIn(client);
    refuseNewer(applied);
    const missing = migrations.filter((name) => !applied.includes(name));
    for (const name of missing) {
      await client.query(await sqlOf(name));
      if (name === "0001-roles") await beginAsOwner(client);
      await client.query("INSERT INTO memcell.migrations (name) VALUES ($1)", [name]);
    }
    await client.query("COMMIT");
    return missing;
  } catch (error) {
    // Of a lost connection, the server takes everything back itself.
    await client.query("ROLLBACK").catch(() => {});
    throw error;
  }
}

/** What was applied to the database, in order; nothing if it has no tables of memcell. */
async function appliedIn(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ has: boolean }>("SELECT to_regclass('memcell.migrations') IS NOT NULL AS has");
  if (rows[0]?.has !== true) return [];
  await client.query(`SET LOCAL ROLE ${ownerRole}`);
  const { rows: names } = await client.query<{ name: string }>("SELECT name FROM memcell.migrations ORDER BY name");
  return names.map(({ name }) => name);
}

export function refuseNewer(applied: readonly string[]): void {
  const unknown = applied.filter((name) => !(migrations as readonly string[]).includes(name));
  if (unknown.length === 0) return;
  throw new ToolError("STORAGE_FAILED", `Cannot use the database: it is newer, it has ${unknown.join(", ")}`);
}

async function beginAsOwner(client: Client): Promise<void> {
  await client.query(`SET LOCAL ROLE ${ownerRole}`);
  await client.query(`CREATE TABLE memcell.migrations (
    name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now()
  )`);
}

export async function sqlOf(name: (typeof migrations)[number]): Promise<string> {
  const file = await readBoundedFile(packageFile(`host/store/postgres/migrations/${name}.sql`), sqlBytesMax);
  if (file.kind === "unfit") throw new RangeError(`Cannot use ${name}.sql: ${file.reason}`);
  return Buffer.from(file.bytes).toString("utf8");
}

const sqlBytesMax = 1024 * 1024;
