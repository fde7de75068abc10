/** The only importer of the client, `pg`. */
import type * as Pg from "pg";
import type { Client, Pool, PoolClient, PoolConfig } from "pg";

import { ToolError } from "../../values/tool-error.ts";
import { addressesOf } from "./addresses.ts";
import { failureOfDatabase } from "./database-failure.ts";

export type { Client, PoolClient };

export interface ConnectionsSetup {
  /** Can name several servers: see `addressesOf`. */
  readonly url: string;
  readonly connectionsMax: number;
  /** For what happens to connections that nobody uses. */
  readonly note: (text: string) => void;
}

/** How long it may take to connect. */
const connectMs = 10_000;
const common = { connectionTimeoutMillis: connectMs, application_name: "memcell", keepAlive: true };

/** Connections to the first server that can be reached and can write. */
export class Connections {
  readonly #setup: ConnectionsSetup;
  readonly #addresses: readonly string[];
  readonly #pools = new Map<string, Pool>();
  readonly #writable = new WeakSet<PoolClient>();
  /** The index of the address that was good last. */
  #at = 0;

  constructor(setup: ConnectionsSetup) {
    this.#setup = setup;
    this.#addresses = addressesOf(setup.url);
  }

  /** A connection of the pool, which the caller must release. */
  async take(): Promise<PoolClient> {
    return await this.#first(async (url) => {
      const client = await (await this.#poolOf(url)).connect();
      if (this.#addresses.length > 1) await this.#refuseStandby(client);
      return client;
    });
  }

  /** A connection of its own, which the caller must end. */
  async open(): Promise<Client> {
    return await this.#first(connectTo);
  }

  async close(): Promise<void> {
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map((pool) => pool.end()));
  }

  async #first<Connection>(connect: (url: string) => Promise<Connection>): Promise<Connection> {
    const { length } = this.#addresses;
    const failures: unknown[] = [];
    for (let tried = 0; tried < length; tried++) {
      const at = (this.#at + tried) % length;
      try {
        const connection = await connect(this.#addresses[at] ?? this.#setup.url);
        this.#at = at;
        return connection;
      } catch (error) {
        failures.push(error);
      }
    }
    throw failures[0];
  }

  /** Of several servers, one can be the standby of another. Each connection is asked once. */
  async #refuseStandby(client: PoolClient): Promise<void> {
    if (this.#writable.has(client)) return;
    try {
      const { rows } = await client.query<{ is_standby: boolean }>("SELECT pg_is_in_recovery() AS is_standby");
      if (rows[0]?.is_standby === true) throw new Error("The connection is to a standby");
      this.#writable.add(client);
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  async #poolOf(url: string): Promise<Pool> {
    const { default: pg } = await loadClient();
    const { connectionsMax, note } = this.#setup;
    const known = this.#pools.get(url);
    if (known !== undefined) return known;
    const config: PoolConfig & Pipelined = {
      ...common,
      connectionString: url,
      max: connectionsMax,
      pipeline: true,
    };
    const pool = new pg.Pool(config);
    // A connection that nobody uses has ended. The next call opens another one.
    pool.on("error", (error) => note(`a connection to the database has ended (${error.message})`));
    this.#pools.set(url, pool);
    return pool;
  }
}

interface Pipelined {
  /** Statements are sent without waiting for the answers to those before. */
  readonly pipeline: boolean;
}

/** Works on a connection of its own, as the role of the address. Not for the data of users: see `Database.act`. */
export async function withClient<Result>(url: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  let client: Client | null = null;
  try {
    client = await new Connections({ url, connectionsMax: 1, note: () => {} }).open();
    return await work(client);
  } catch (error) {
    throw failureOfDatabase(error, "use the database", inUse);
  } finally {
    await client?.end().catch(() => {});
  }
}

export const inUse = (): ToolError => new ToolError("BUSY", "Cannot use the database: it is in use");

async function connectTo(url: string): Promise<Client> {
  const { default: pg } = await loadClient();
  const client = new pg.Client({ ...common, connectionString: url });
  // A connection that ends while nobody waits for an answer fails the next statement.
  client.on("error", () => {});
  await client.connect();
  return client;
}

async function loadClient(): Promise<typeof Pg> {
  try {
    return await import("pg");
  } catch (error) {
    throw new ToolError("STORAGE_FAILED", 'Cannot use PostgreSQL: the package "pg" is not installed', { cause: error });
  }
}
