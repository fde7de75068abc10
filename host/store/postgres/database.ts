import { setTimeout as wait } from "node:timers/promises";

import type { StoreId } from "../../values/ids.ts";
import { ToolError } from "../../values/tool-error.ts";
import { Slots } from "../../values/turns.ts";
import type { Patience } from "../../values/turns.ts";
import type { ActingPrincipal } from "../home.ts";
import { StaleCall, untilFresh } from "../plan-changes.ts";
import {
  Connections,
  DatabaseError,
  UnknownOutcome,
  askClient,
  endClient,
  failureOfDatabase,
  inUse,
} from "./connections.ts";
import type { Connection, ConnectionsSetup } from "./connections.ts";
import { sql } from "./statement.ts";
import type { RowsOf, Statement } from "./statement.ts";

export interface DatabaseSetup extends ConnectionsSetup {
  /** Whether a crash of the database can lose the last commits. */
  readonly isRelaxed: boolean;
  readonly clock: () => number;
  /** How long the database may say nothing, beside what it waits for locks. Default: a minute. */
  readonly answerMs?: number;
}

/** For whom the database works, what it locks meanwhile, and how long it waits for a connection and for locks. */
export interface Acting extends Patience {
  /** What cannot be done if the database fails, as in "Cannot copy". */
  readonly action: string;
  readonly who: StoreId;
  readonly vouched?: ActingPrincipal["vouched"];
  /** Keys of locks, in the order in which they are taken. */
  readonly locks?: readonly string[];
  /** Whether all reads see the same moment, and nothing is written. */
  readonly isReadOnly: boolean;
}

/** How long a single statement may wait. */
const askMs = 30_000;
/** How long it is tried to find out what became of a commit, and how long between two tries. */
const [findMs, pauseMs] = [30_000, 100] as const;

/** The only way to the database for whatever is a user's. */
export class Database {
  readonly #setup: DatabaseSetup;
  readonly #slots: Slots;
  readonly #connections: Connections;

  constructor(setup: DatabaseSetup) {
    this.#setup = setup;
    this.#slots = new Slots(setup.connectionsMax);
    this.#connections = new Connections(setup);
  }

  /**
   * Works for one principal, in transactions that say so first. What the work has not committed is taken back. After any
   * error the connection is closed.
   */
  async act<Result>(acting: Acting, work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    const beganMs = performance.now();
    await this.#slots.take(acting);
    const transaction = new Transaction(this.#setup, this.#connections, acting);
    try {
      const result = await work(transaction);
      await transaction.end();
      return result;
    } catch (error) {
      transaction.drop();
      const tooLong = (): ToolError => acting.tooLong(Math.ceil(performance.now() - beganMs));
      throw failureOfDatabase(error, acting.action, tooLong);
    } finally {
      this.#slots.give();
    }
  }

  /** Reads with one statement. */
  async ask<Row extends object>(who: StoreId, statement: Statement<Row>): Promise<Row[]> {
    const acting = { ...asking, who, isReadOnly: true, until: performance.now() + askMs };
    const [rows] = await this.act(acting, (transaction) => transaction.ask(statement));
    return rows;
  }

  /** Makes a change that can as well be made twice, so nobody has to find out what became of the first. */
  async change(who: StoreId, statement: Statement): Promise<object[]> {
    const acting = { ...asking, who, isReadOnly: false, until: performance.now() + askMs };
    const change = (): Promise<object[][]> =>
      this.act(acting, (transaction) => transaction.commitSurely([statement], null));
    return (await untilFresh({}, change))[0] ?? [];
  }

  /** Hears what is told on a channel, over a connection of its own. `ended`: it was lost. Returns what ends it. */
  async listen(channel: string, heard: (text: string) => void, ended: () => void): Promise<() => Promise<void>> {
    const client = await this.#connections.open();
    client.on("notification", ({ payload = "" }) => heard(payload));
    try {
      await askClient(client, `LISTEN ${client.escapeIdentifier(channel)}`);
    } catch (error) {
      await endClient(client);
      throw error;
    }
    client.once("end", ended);
    return async () => {
      client.off("end", ended);
      await endClient(client);
    };
  }

  async close(): Promise<void> {
    await this.#connections.close();
  }
}

const asking = { action: "use the database", tooLong: inUse };

/**
 * One transaction after another for the same principal, on one connection. Each begins by saying who acts, and takes the
 * locks. The next one begins with the first statement after a commit. After a failure nothing more is sent.
 */
export class Transaction {
  readonly #setup: DatabaseSetup;
  readonly #connections: Connections;
  readonly acting: Acting;
  #connection: Promise<Connection> | null = null;
  #isBegun = false;
  /** What is thrown if anything more is to be sent: the first failure, or that the work has ended. */
  #stop: unknown = null;

  constructor(setup: DatabaseSetup, connections: Connections, acting: Acting) {
    this.#setup = setup;
    this.#connections = connections;
    this.acting = acting;
  }

  /** Sends statements together. Returns the rows of each. */
  async ask<const All extends readonly Statement[]>(...statements: All): Promise<RowsOf<All>> {
    if (this.#stop !== null) throw this.#stop;
    try {
      return await this.#untilEnded(() => this.#sendUntilNew(statements));
    } catch (error) {
      this.#stop ??= error;
      throw error;
    }
  }

  /**
   * Sends the last statements with the commit. If one fails, the database takes everything back. Throws `UnknownOutcome`
   * if nobody knows whether the commit was made, and `StaleCall` if it could not be sent.
   */
  async commit<const All extends readonly Statement[]>(...statements: All): Promise<RowsOf<All>> {
    if (this.#stop !== null) throw this.#stop;
    const connection = await this.#connected();
    // Of a connection that ended before, the database has taken everything back.
    if (connection.hasEnded) throw new StaleCall();
    try {
      const rows = await this.#send(connection, [...statements, sql`COMMIT`]);
      this.#isBegun = false;
      return rows.slice(0, -1) as RowsOf<All>;
    } catch (error) {
      // If the server has answered that a statement or the commit failed, it has rolled everything back.
      if (error instanceof DatabaseError && error.isLost) {
        this.#close();
        throw new UnknownOutcome("The connection was lost at the commit", { cause: error });
      }
      this.#stop ??= error;
      throw error;
    }
  }

  /**
   * The same, but if the connection is lost meanwhile, first finds out what became of the commit: if it was made, `found`
   * has rows, and none are returned. Else throws `StaleCall`, so that the call runs again; also without `found`, of a
   * change that can as well be made twice.
   */
  async commitSurely(statements: readonly Statement[], found: Statement | null): Promise<object[][]> {
    try {
      return await this.commit(...statements);
    } catch (error) {
      if (!(error instanceof UnknownOutcome)) throw error;
      if (found !== null && (await this.#wasMade(found))) return [];
      throw new StaleCall({ cause: error });
    }
  }

  /**
   * Takes the same locks in another transaction, so the lost one has ended by then. Throws `STORAGE_FAILED` if the
   * database cannot be asked for long.
   */
  async #wasMade(found: Statement): Promise<boolean> {
    const until = performance.now() + findMs;
    for (;;) {
      const again = new Transaction(this.#setup, this.#connections, { ...this.acting, until, signal: undefined });
      try {
        const [rows] = await again.ask(found);
        await again.end();
        return rows.length > 0;
      } catch (error) {
        again.drop();
        if (!(error instanceof DatabaseError) || performance.now() >= until) throw unknown(error);
      }
      await wait(pauseMs);
    }
  }

  /**
   * Ends what was not committed, and gives the connection back. Throws the failure of a statement that the work has not
   * thrown: a guest has got an answer that says nothing of it.
   */
  async end(): Promise<void> {
    if (this.#stop !== null) throw this.#stop;
    this.#stop = ended();
    try {
      const last = this.acting.isReadOnly ? sql`COMMIT` : sql`ROLLBACK`;
      if (this.#isBegun) await this.#send(await this.#connected(), [last]);
    } catch {
      this.#close();
    }
    (await this.#connection)?.giveBack();
    this.#connection = null;
  }

  /** Closes the connection, so that nothing of it is left for anybody else. */
  drop(): void {
    this.#stop ??= ended();
    this.#close();
  }

  /** Whatever the database's defaults are: what waits for a lock must then see what the others have committed. */
  #begin(): [Statement, Statement] {
    const { who, vouched = [], locks = [], isReadOnly, until } = this.acting;
    const { isRelaxed, clock } = this.#setup;
    const written = vouched.filter(({ level }) => level === "readwrite");
    const lockMs = Math.max(1, Math.min(2 ** 31 - 1, Math.ceil(until - performance.now())));
    return [
      isReadOnly
        ? sql`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`
        : sql`BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE`,
      sql`SELECT memcell.enter(
        ${who}, ${Math.trunc(clock())}, ${isRelaxed},
        ${vouched.map(({ id }) => id)}, ${written.map(({ id }) => id)}, ${locks}, ${lockMs}
      )`,
    ];
  }

  /**
   * A connection that others have used can be dead when a transaction begins: then nothing was done, and another one is
   * tried, until one is new.
   */
  async #sendUntilNew<All extends readonly Statement[]>(statements: All): Promise<RowsOf<All>> {
    for (;;) {
      const connection = await this.#connected();
      const isFirst = !this.#isBegun;
      try {
        return await this.#send(connection, statements);
      } catch (error) {
        const isOld = isFirst && connection.wasUsed && error instanceof DatabaseError && error.isLost;
        if (!isOld || this.#stop !== null || this.acting.signal?.aborted) throw error;
        this.#close();
      }
    }
  }

  /** Sends statements together, after those that begin a transaction if none is begun. */
  async #send<All extends readonly Statement[]>(connection: Connection, statements: All): Promise<RowsOf<All>> {
    const begin = this.#isBegun ? [] : this.#begin();
    this.#isBegun = true;
    // A server that waits for a lock says nothing.
    const silentMs = (this.#setup.answerMs ?? 60_000) + Math.max(0, this.acting.until - performance.now());
    const rows = await connection.send([...begin, ...statements], silentMs);
    return rows.slice(begin.length) as RowsOf<All>;
  }

  #connected(): Promise<Connection> {
    return (this.#connection ??= this.#connections.take());
  }

  /** A server that waits for a lock answers nothing: whoever gives up closes the connection. */
  #untilEnded<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    const { signal } = this.acting;
    if (signal === undefined) return work();
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const end = (): void => {
        this.#close();
        reject(signal.reason);
      };
      signal.addEventListener("abort", end);
      void work()
        .then(resolve, reject)
        .finally(() => signal.removeEventListener("abort", end));
    });
  }

  #close(): void {
    const connection = this.#connection;
    this.#connection = null;
    this.#isBegun = false;
    connection?.then(
      (opened) => opened.close(),
      () => {},
    );
  }
}

const ended = (): RangeError => new RangeError("Cannot use the database: the work has ended");

const unknown = (cause: unknown): ToolError =>
  new ToolError("STORAGE_FAILED", "Cannot say whether the change was made: the database cannot be reached", { cause });
