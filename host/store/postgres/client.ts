/** The only importer of the client, `pg`, which is loaded only by who names a database. */
import type * as Pg from "pg";

import { ToolError } from "../../values/tool-error.ts";

export type { Client, Pool, PoolClient, PoolConfig } from "pg";

export async function loadClient(): Promise<typeof Pg> {
  try {
    return await import("pg");
  } catch (error) {
    throw new ToolError("STORAGE_FAILED", 'Cannot use PostgreSQL: the package "pg" is not installed', { cause: error });
  }
}
