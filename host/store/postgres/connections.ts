/**
 * Connections to a database, and what its failures mean: their own words never reach a caller. The only importer of the
 * client, `pg`, which is loaded only by who names a database.
 */
import type * as Pg from "pg";

import type { ErrorCode } from "../../../shared/errors.ts";
import { ToolError } from "../../values/tool-error.ts";
import { StaleCall } from "../plan-changes.ts";
import type { RowsOf, Statement } from "./statement.ts";

export type Client = Pg.Client;

export interface ConnectionsSetup {
  /** Can name several servers: see `addressesOf`. */
  readonly url: string;
  readonly connectionsMax: number;
  /** For what happens to connections that nobody uses. */
  readonly note: (text: string) => void;
}

/** How long it may take to connect, and to look at the database itself: such statements take milliseconds. */
const connectMs = 10_000;
/** How long the server may take to end a connection. */
const endMs = 1_000;
const common = { connectionTimeoutMillis: connectMs, application_name: "memcell", keepAlive: true };

/** Connections to the first server that can be reached and can write. */
export class Connections {
  readonly #setup: ConnectionsSetup;
  readonly #addresses: readonly string[];
  readonly #pools = new Map<string, Pg.Pool>();
  readonly #used = new WeakSet<Pg.PoolClient>();
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
      const connection = new Connection(client, this.#used.has(client));
      this.#used.add(client);
      if (!connection.wasUsed) await this.#refuseStandby(client, () => connection.close());
      return connection;
    });
  }

  /** A connection of its own, which the caller must end. */
  async open(answerMs = 0): Promise<Client> {
    return await this.#first(async (url) => {
      const { default: pg } = await loadClient();
      const client = new pg.Client({ ...common, query_timeout: answerMs, connectionString: url });
      // A connection that ends while nobody waits for an answer fails the next statement.
      client.on("error", () => {});
      await client.connect();
      await this.#refuseStandby(client, () => void endClient(client));
      return client;
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map((pool) => pool.end()));
  }

  async #first<Opened>(connect: (url: string) => Promise<Opened>): Promise<Opened> {
    const { length } = this.#addresses;
    if (this.#isClosed) throw new ToolError("CLOSED", "Cannot use the database: the store was closed");
    let failure: unknown = null;
    for (let tried = 0; tried < length; tried++) {
      const at = (this.#at + tried) % length;
      try {
        const opened = await connect(this.#addresses[at] ?? this.#setup.url);
        this.#at = at;
        return opened;
      } catch (error) {
        failure ??= error;
      }
    }
    throw failure instanceof ToolError ? failure : new DatabaseError(failure);
  }

  /** Of several servers, one can be the standby of another. */
  async #refuseStandby(client: Pg.ClientBase, close: () => void): Promise<void> {
    if (this.#addresses.length === 1) return;
    try {
      const { rows } = await askClient(client, "SELECT pg_is_in_recovery() AS is_standby");
      if (rows[0]?.["is_standby"] === true) throw new Error("The connection is to a standby");
    } catch (error) {
      close();
      throw error;
    }
  }

  async #poolOf(url: string): Promise<Pg.Pool> {
    const { default: pg } = await loadClient();
    const { connectionsMax: max, note } = this.#setup;
    const known = this.#pools.get(url);
    if (known !== undefined) return known;
    // `pipeline`: statements are sent without waiting for the answers to those before.
    const pool = new pg.Pool({ ...common, connectionString: url, max, pipeline: true });
    // A connection that nobody uses has ended. The next call opens another one.
    pool.on("error", (error) => note(`a connection to the database has ended (${error.message})`));
    this.#pools.set(url, pool);
    return pool;
  }
}

/** A connection of the pool, in use. */
export class Connection {
  readonly #client: Pg.PoolClient;
  /** Whether others have used it before. It can have ended since, without a word. */
  readonly wasUsed: boolean;
  /** Whether nothing can be sent any more. */
  hasEnded = false;
  #underWay = 0;
  readonly #onError = (): void => void (this.hasEnded = true);

  constructor(client: Pg.PoolClient, wasUsed: boolean) {
    this.#client = client;
    this.wasUsed = wasUsed;
    client.on("error", this.#onError);
    // Sent together with the first statements. A server that cannot do one of them goes without.
    if (!wasUsed) for (const each of endWithHost) void client.query(each).catch(() => {});
  }

  /**
   * Sends statements together. Returns the rows of each. Throws the first failure. After `silentMs` without an answer to
   * all, the connection is lost.
   */
  async send<const All extends readonly Statement[]>(statements: All, silentMs: number): Promise<RowsOf<All>> {
    this.#underWay++;
    try {
      const sent = Promise.allSettled(statements.map((each) => this.#client.query(each)));
      const results = await unlessSilent(this.#client, silentMs, sent);
      return results.map((result) => {
        if (result.status === "rejected") throw new DatabaseError(result.reason);
        return result.value.rows as object[];
      }) as RowsOf<All>;
    } finally {
      this.#underWay--;
    }
  }

  /** For others to use. */
  giveBack(): void {
    this.#client.off("error", this.#onError);
    this.#client.release();
  }

  /** Whoever waits for an answer gets an error at once. The client would wait for all answers first. */
  close(): void {
    this.#client.release(true);
    if (this.#underWay > 0) cut(this.#client);
  }
}

/**
 * The server ends a session soon after its host has gone or has closed it, even if the session waits for a lock or the
 * network has failed silently.
 */
const endWithHost = [
  "SET client_connection_check_interval = '2s'",
  "SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3",
];

/**
 * Works on a connection of its own, as the role of the address. Not for the data of users: see `Database.act`.
 * `answerMs`: how long the database may take for one statement; 0 sets no bound.
 */
export async function withClient<Result>(
  url: string,
  work: (client: Client) => Promise<Result>,
  answerMs = connectMs,
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

/** Asks for what takes a server no time. One that does not answer is lost. */
export const askClient = (client: Pg.ClientBase, text: string): Promise<Pg.QueryResult> =>
  unlessSilent(client, connectMs, client.query(text));

/** Never rejects. A server that does not answer is not waited for. */
export async function endClient(client: Client): Promise<void> {
  await unlessSilent(client, endMs, client.end()).catch(() => {});
}

/** A connection is cut if the answer takes longer. Whoever waits for it then gets an error. */
async function unlessSilent<Answer>(client: Pg.ClientBase, silentMs: number, answer: Promise<Answer>): Promise<Answer> {
  const timer = setTimeout(() => cut(client), Math.min(silentMs, 2 ** 31 - 1));
  try {
    return await answer;
  } finally {
    clearTimeout(timer);
  }
}

const cut = (client: Pg.ClientBase): void => void (client as Client).connection.stream.destroy();

async function loadClient(): Promise<typeof Pg> {
  try {
    return await import("pg");
  } catch (error) {
    throw new ToolError("STORAGE_FAILED", 'Cannot use PostgreSQL: the package "pg" is not installed', { cause: error });
  }
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
  const count = Math.max(authority.split(",").length, parameters.get("host")?.split(",").length ?? 0);
  return Array.from({ length: count }, (_, at) => {
    const own = new URLSearchParams(parameters);
    for (const name of ["host", "port"]) if (own.has(name)) own.set(name, itemAt(own.get(name), at));
    return `${before}${itemAt(authority, at)}${path}${own.size > 0 ? `?${own.toString()}` : ""}`;
  });
}

/** An item of a list with commas. One item stands for all. */
function itemAt(list: string | null, at: number): string {
  const items = list?.split(",") ?? [];
  return items[at] ?? items[0] ?? "";
}

type Reason = readonly [ErrorCode, string];

const unreachable: Reason = ["STORAGE_BUSY", "the database cannot be reached"];
const refused: Reason = ["STORAGE_FAILED", "the database refused"];

/** By SQLSTATE, or by its class. */
const known: Readonly<Record<string, Reason>> = {
  "53100": ["STORAGE_FULL", "the database's disk is full"],
  "53": ["STORAGE_BUSY", "the database is short of connections or memory"],
  "57014": ["STORAGE_BUSY", "the database has cancelled it"],
  "57": unreachable,
  "08": unreachable,
  "25006": ["STORAGE_FAILED", "the database is read-only"],
  "25P03": unreachable,
  "25P04": unreachable,
  "28": ["STORAGE_FAILED", "the database refuses the host's role"],
  "3D": ["STORAGE_FAILED", "there is no such database"],
  "42501": ["CAPABILITY_DENIED", "the database denies it"],
  "42": ["STORAGE_FAILED", "the database has other tables, or other rights: see memcell db check"],
  "58": ["STORAGE_FAILED", "the database's disk has an error"],
  XX: ["STORAGE_FAILED", "the database has found damage"],
};

/** What `migrations/0004-changes.sql` raises for what has changed, and of transactions that got in each other's way. */
const stale = new Set(["MC001", "40001", "40P01"]);
const lockNotAvailable = "55P03";

/** What the database, its client or the way to it has answered. */
export class DatabaseError extends Error {
  /** The SQLSTATE; `null` if the server has sent none. */
  readonly state: string | null;

  constructor(cause: unknown) {
    super("The database has failed", { cause });
    const { code, severity } = cause as { readonly code?: unknown; readonly severity?: unknown };
    this.state = typeof code === "string" && severity !== undefined ? code : null;
  }

  /** Whether it is not known what became of the statements: the connection is gone. */
  get isLost(): boolean {
    return this.state === null ? isOfConnection(this.cause) : /^(?:08|57P0|25P0[34])/.test(this.state);
  }
}

/** Nobody knows yet whether the database has made a commit: the connection was lost. */
export class UnknownOutcome extends Error {}

/** Returns errors that are not the database's as they are. `tooLong`: the error of a wait for others. */
export function failureOfDatabase(error: unknown, action: string, tooLong: () => ToolError): unknown {
  if (error instanceof UnknownOutcome) {
    return new ToolError("STORAGE_FAILED", `Cannot ${action}: the connection was lost at the commit`, { cause: error });
  }
  if (!(error instanceof DatabaseError)) return error;
  const { state, isLost, cause } = error;
  if (state === lockNotAvailable) return tooLong();
  if (state !== null && stale.has(state)) return new StaleCall({ cause });
  const ofState = state === null ? isLost && unreachable : (known[state] ?? known[state.slice(0, 2)]);
  const [code, reason] = ofState || refused;
  return new ToolError(code, `Cannot ${action}: ${reason}`, { cause });
}

/** Of the client or of the system, as opposed to a mistake. */
function isOfConnection(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof TypeError || error instanceof RangeError) return false;
  return "errno" in error || "code" in error || /connection|timeout|terminat|queryable/i.test(error.message);
}
