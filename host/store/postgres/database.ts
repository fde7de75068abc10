/** The only importer of the client, `pg`, and the only way to its connections. */
import type * as Pg from "pg";
import type { Client, Pool, PoolConfig } from "pg";

import { Slots } from "../../values/slots.ts";
import type { StoreId } from "../../values/store-id.ts";
import { ToolError } from "../../values/tool-error.ts";
import { failureOfDatabase } from "./database-failure.ts";
import type { Row, Statement } from "./statements.ts";
import { Transaction } from "./transaction.ts";
import type { Acting, TransactionParts } from "./transaction.ts";

export interface DatabaseSetup extends Pick<TransactionParts, "isRelaxed" | "clock"> {
  readonly url: string;
  readonly connectionsMax: number;
  /** For what happens to connections that nobody uses. */
  readonly note: (text: string) => void;
}

/** How long it may take to connect, and to wait for a single statement. */
const [connectMs, askMs] = [10_000, 30_000] as const;

export interface ListeningClient {
  end(): Promise<void>;
}

export class Database {
  readonly #setup: DatabaseSetup;
  readonly #slots: Slots;
  #pool: Promise<Pool> | null = null;

  constructor(setup: DatabaseSetup) {
    this.#setup = setup;
    this.#slots = new Slots(setup.connectionsMax);
  }

  /**
   * Works for one principal, in transactions that say so first. What the work has not committed is taken back. After any
   * error the connection is closed.
   */
  async act<Result>(
    acting: Acting,
    { action, tooLong }: { readonly action: string; readonly tooLong: (waitedMs: number) => ToolError },
    work: (transaction: Transaction) => Promise<Result>,
  ): Promise<Result> {
    const { until, signal } = acting;
    const beganMs = performance.now();
    await this.#slots.take({ until, signal, tooLong });
    const { isRelaxed, clock } = this.#setup;
    const transaction = new Transaction(
      { isRelaxed, clock, connect: async () => (await this.#open()).connect() },
      acting,
    );
    try {
      const result = await work(transaction);
      await transaction.end();
      return result;
    } catch (error) {
      transaction.drop();
      throw failureOfDatabase(error, action, () => tooLong(Math.ceil(performance.now() - beganMs)));
    } finally {
      this.#slots.give();
    }
  }

  /** One statement, for whoever `who` is. */
  async ask(who: StoreId, statement: Statement, { commits }: { readonly commits: boolean }): Promise<Row[]> {
    const acting = { who, locks: [], isSnapshot: !commits, until: performance.now() + askMs };
    const [rows = []] = await this.act(acting, { action: "use the database", tooLong: inUse }, (transaction) =>
      commits ? transaction.commit(statement) : transaction.ask(statement),
    );
    return rows;
  }

  /** Hears what is told on a channel, over a connection of its own. `ended`: it was lost. */
  async listen(
    channel: string,
    { heard, ended }: { readonly heard: (text: string) => void; readonly ended: () => void },
  ): Promise<ListeningClient> {
    const client = await newClient(this.#setup.url);
    client.on("notification", ({ payload = "" }) => heard(payload));
    await client.connect();
    await client.query(`LISTEN ${client.escapeIdentifier(channel)}`);
    client.once("end", ended);
    return {
      end: async () => {
        client.off("end", ended);
        await client.end();
      },
    };
  }

  async close(): Promise<void> {
    const pool = this.#pool;
    this.#pool = null;
    await (await pool)?.end();
  }

  #open(): Promise<Pool> {
    this.#pool ??= openPool(this.#setup);
    return this.#pool;
  }
}

/** Works on a connection of its own, as the role of the address. Not for the data of users: see `Database.act`. */
export async function withClient<Result>(url: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = await newClient(url);
  try {
    await client.connect();
    return await work(client);
  } catch (error) {
    throw failureOfDatabase(error, "use the database", inUse);
  } finally {
    await client.end().catch(() => {});
  }
}

async function newClient(url: string): Promise<Client> {
  const { default: pg } = await loadClient();
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: connectMs,
    application_name: "memcell",
    keepAlive: true,
  });
  // A connection that ends while nobody waits for an answer fails the next statement.
  client.on("error", () => {});
  return client;
}

const inUse = (): ToolError => new ToolError("BUSY", "Cannot use the database: it is in use");

async function openPool({ url, connectionsMax, note }: DatabaseSetup): Promise<Pool> {
  const { default: pg } = await loadClient();
  const config: PoolConfig & { readonly pipeline: boolean } = {
    connectionString: url,
    max: connectionsMax,
    connectionTimeoutMillis: connectMs,
    application_name: "memcell",
    keepAlive: true,
    pipeline: true,
  };
  const pool = new pg.Pool(config);
  // A connection that nobody uses has ended. The next call opens another one.
  pool.on("error", (error) => note(`a connection to the database has ended (${error.message})`));
  return pool;
}

async function loadClient(): Promise<typeof Pg> {
  try {
    return await import("pg");
  } catch (error) {
    throw new ToolError("STORAGE_FAILED", 'Cannot use PostgreSQL: the package "pg" is not installed', { cause: error });
  }
}
