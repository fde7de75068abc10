import { ToolError } from "../../values/tool-error.ts";
import { loadClient } from "./client.ts";
import type { Client, Pool, PoolClient, PoolConfig } from "./client.ts";
import { Connection } from "./connection.ts";
import { DatabaseError, failureOfDatabase } from "./database-failure.ts";
import type { Row, Statement } from "./statements.ts";

export interface ConnectionsSetup {
  /** Can name several servers: see `addressesOf`. */
  readonly url: string;
  readonly connectionsMax: number;
  /** For what happens to connections that nobody uses. */
  readonly note: (text: string) => void;
}

/** How long it may take to connect. */
const connectMs = 10_000;
/** How long a statement may take that looks at the database itself. Such statements take milliseconds. */
const checkMs = 10_000;
/** How long the server may take to end a connection. */
const endMs = 1_000;
const common = { connectionTimeoutMillis: connectMs, application_name: "memcell", keepAlive: true };

/** Connections to the first server that can be reached and can write. */
export class Connections {
  readonly #setup: ConnectionsSetup;
  readonly #addresses: readonly string[];
  readonly #pools = new Map<string, Pool>();
  readonly #used = new WeakSet<PoolClient>();
  /** The index of the address that was good last. */
  #at = 0;
  #isClosed = false;

  constructor(setup: ConnectionsSetup) {
    this.#setup = setup;
    this.#addresses = addressesOf(setup.url);
  }

  /** A connection of the pool, which the caller must give back or close. */
  async take(): Promise<Connection> {
    return await this.#first(async (url) => {
      const client = await (await this.#poolOf(url)).connect();
      const wasUsed = this.#used.has(client);
      this.#used.add(client);
      const connection = new Connection(client, wasUsed);
      if (this.#addresses.length > 1 && !wasUsed) {
        await refuseStandby(
          (statement) => connection.send([statement], connectMs),
          () => connection.close(),
        );
      }
      return connection;
    });
  }

  /** A connection of its own, which the caller must end. */
  async open(answerMs = 0): Promise<Client> {
    return await this.#first(async (url) => {
      const client = await connectTo(url, answerMs);
      if (this.#addresses.length > 1) {
        await refuseStandby(
          async ({ text }) => [await askClient(client, text)],
          () => void endClient(client),
        );
      }
      return client;
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map((pool) => pool.end()));
  }

  async #first<Connection>(connect: (url: string) => Promise<Connection>): Promise<Connection> {
    const { length } = this.#addresses;
    if (this.#isClosed) throw new ToolError("CLOSED", "Cannot use the database: the store was closed");
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
    throw failures[0] instanceof ToolError ? failures[0] : new DatabaseError(failures[0]);
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

/**
 * Works on a connection of its own, as the role of the address. Not for the data of users: see `Database.act`.
 * `answerMs`: how long the database may take for one statement; 0 sets no bound.
 */
export async function withClient<Result>(
  url: string,
  work: (client: Client) => Promise<Result>,
  answerMs = checkMs,
): Promise<Result> {
  let client: Client | null = null;
  try {
    client = await new Connections({ url, connectionsMax: 1, note: () => {} }).open(answerMs);
    return await work(client);
  } catch (error) {
    const isOurs = error instanceof ToolError || error instanceof DatabaseError;
    throw failureOfDatabase(isOurs ? error : new DatabaseError(error), "use the database", inUse);
  } finally {
    if (client !== null) await endClient(client);
  }
}

export const inUse = (): ToolError => new ToolError("BUSY", "Cannot use the database: it is in use");

/** Of several servers, one can be the standby of another. */
async function refuseStandby(ask: (statement: Statement) => Promise<Row[][]>, close: () => void): Promise<void> {
  try {
    const [[row] = []] = await ask({ text: "SELECT pg_is_in_recovery() AS is_standby", values: [] });
    if (row?.["is_standby"] === true) throw new Error("The connection is to a standby");
  } catch (error) {
    close();
    throw error;
  }
}

/** Asks for what takes a server no time. One that does not answer is lost. */
export async function askClient(client: Client, text: string): Promise<Row[]> {
  const timer = setTimeout(() => client.connection.stream.destroy(), connectMs);
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    clearTimeout(timer);
  }
}

/** Never rejects. A server that does not answer is not waited for. */
export async function endClient(client: Client): Promise<void> {
  const timer = setTimeout(() => client.connection.stream.destroy(), endMs);
  await client.end().catch(() => {});
  clearTimeout(timer);
}

async function connectTo(url: string, answerMs: number): Promise<Client> {
  const { default: pg } = await loadClient();
  const client = new pg.Client({ ...common, query_timeout: answerMs, connectionString: url });
  // A connection that ends while nobody waits for an answer fails the next statement.
  client.on("error", () => {});
  await client.connect();
  return client;
}

/**
 * The servers that an address names, in order, as libpq writes them: `postgres://role@one:5432,two:5433/db`, or several
 * in the parameters `host` and `port`. Each is returned as an address of its own.
 */
function addressesOf(url: string): string[] {
  const parts = /^([a-z]+:\/\/(?:[^@/?#]*@)?)([^/?#]*)([^?#]*)(?:\?([^#]*))?$/.exec(url);
  if (parts === null) return [url];
  const [, before = "", authority = "", path = "", query = ""] = parts;
  const parameters = new URLSearchParams(query);
  const [hosts, ports] = [listIn(parameters, "host"), listIn(parameters, "port")];
  const places = authority.split(",");
  const count = Math.max(places.length, hosts.length);
  return Array.from({ length: count }, (_, at) => {
    const own = new URLSearchParams(parameters);
    if (hosts.length > 0) own.set("host", itemAt(hosts, at));
    if (ports.length > 0) own.set("port", itemAt(ports, at));
    return `${before}${itemAt(places, at)}${path}${own.size > 0 ? `?${own.toString()}` : ""}`;
  });
}

const listIn = (parameters: URLSearchParams, name: string): string[] => parameters.get(name)?.split(",") ?? [];

/** One item stands for all. */
const itemAt = (items: readonly string[], at: number): string => items[at] ?? items[0] ?? "";
