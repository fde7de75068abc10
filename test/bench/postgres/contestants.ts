/** One durable upsert and one read, in a folder, in a database, and the naive way in the same database. */
import { createRuntime } from "memcell";
import type { RuntimeOptions } from "memcell";
import pg from "pg";

import { describe, entryName, entryText, expectOk, indexLine, upsertInput } from "../entry.ts";

export interface Storing extends AsyncDisposable {
  readonly name: string;
  readonly upsert: (at: number, round: number) => Promise<void>;
  readonly read: (at: number) => Promise<void>;
}

const ctx = { userId: "alice" };

export async function ours(name: string, options: RuntimeOptions): Promise<Storing> {
  const runtime = await createRuntime({ threadsMax: 1, ...options });
  return {
    name,
    upsert: (at, round) => expectOk(runtime.call("UpdateUserMemory", upsertInput(at, round), ctx)),
    read: (at) => expectOk(runtime.call("ReadUserMemory", { name: entryName(at) }, ctx)),
    [Symbol.asyncDispose]: () => runtime.close(),
  };
}

const put = (table: string, column: string): string =>
  `INSERT INTO ${table} (tenant, name, ${column}) VALUES ($1, $2, $3)
    ON CONFLICT (tenant, name) DO UPDATE SET ${column} = excluded.${column}`;

/** A row for the entry and one for its line in the index, in a transaction, with nothing else. */
export async function naively(url: string): Promise<Storing> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("CREATE TABLE entries (tenant text, name text, body text, PRIMARY KEY (tenant, name))");
  await client.query("CREATE TABLE index_lines (tenant text, name text, line text, PRIMARY KEY (tenant, name))");
  return {
    name: "naive",
    upsert: async (at, round) => {
      const [name, description] = [entryName(at), describe(at, round)];
      await client.query("BEGIN");
      await client.query(put("entries", "body"), [ctx.userId, name, entryText(at, description)]);
      await client.query(put("index_lines", "line"), [ctx.userId, name, indexLine(at, description)]);
      await client.query("COMMIT");
    },
    read: async (at) => {
      await client.query("SELECT body FROM entries WHERE tenant = $1 AND name = $2", [ctx.userId, entryName(at)]);
    },
    [Symbol.asyncDispose]: () => client.end(),
  };
}
