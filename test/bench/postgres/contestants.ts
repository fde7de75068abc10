/** One durable upsert and one read, in a folder, in a database, and the naive way in the same database. */
import { createRuntime, postgresStore } from "memcell";
import type { Runtime, ToolResult } from "memcell";
import pg from "pg";

import { describe, entryName, entryText, indexLine, upsertInput } from "../entry.ts";

export interface Contestant extends AsyncDisposable {
  readonly name: string;
  upsert(at: number, round: number): Promise<void>;
  read(at: number): Promise<void>;
}

export const inFolder = async (dataDir: string): Promise<Contestant> =>
  ofRuntime("files", await createRuntime({ dataDir, threadsMax: 1 }));

export const inDatabase = async (url: string): Promise<Contestant> =>
  ofRuntime("PostgreSQL", await createRuntime({ store: postgresStore({ url }), threadsMax: 1 }));

const ctx = { userId: "alice" };

function ofRuntime(name: string, runtime: Runtime): Contestant {
  const call = async (tool: string, input: object): Promise<void> => checkOk(await runtime.call(tool, input, ctx));
  return {
    name,
    upsert: (at, round) => call("UpdateUserMemory", { action: "upsert", ...upsertInput(at, round) }),
    read: (at) => call("ReadUserMemory", { name: entryName(at) }),
    [Symbol.asyncDispose]: () => runtime.close(),
  };
}

function checkOk(result: ToolResult): void {
  if (!result.ok) throw new Error(result.error.message);
}

const put = (table: string, column: string): string =>
  `INSERT INTO ${table} (tenant, name, ${column}) VALUES ($1, $2, $3)
    ON CONFLICT (tenant, name) DO UPDATE SET ${column} = excluded.${column}`;

/** A row for the entry and one for its line in the index, in a transaction, with nothing else. */
export async function naively(url: string): Promise<Contestant> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("CREATE TABLE entries (tenant text, name text, body text, PRIMARY KEY (tenant, name))");
  await client.query("CREATE TABLE index_lines (tenant text, name text, line text, PRIMARY KEY (tenant, name))");
  const [putEntry, putLine] = [put("entries", "body"), put("index_lines", "line")];
  return {
    name: "naive",
    upsert: async (at, round) => {
      const [name, description] = [entryName(at), describe(at, round)];
      await client.query("BEGIN");
      await client.query(putEntry, [ctx.userId, name, entryText(at, description)]);
      await client.query(putLine, [ctx.userId, name, indexLine(at, description)]);
      await client.query("COMMIT");
    },
    read: async (at) => {
      await client.query("SELECT body FROM entries WHERE tenant = $1 AND name = $2", [ctx.userId, entryName(at)]);
    },
    [Symbol.asyncDispose]: () => client.end(),
  };
}
