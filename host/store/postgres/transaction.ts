import { StaleCall } from "../plan-changes.ts";
import type { Connection } from "./connection.ts";
import { DatabaseError, UnknownOutcome } from "./database-failure.ts";
import { enter } from "./statements.ts";
import type { Acting, Row, Statement } from "./statements.ts";

export interface TransactionParts {
  readonly connect: () => Promise<Connection>;
  readonly isRelaxed: boolean;
  readonly clock: () => number;
  /** How long the database may take for statements, beside what it waits for locks. */
  readonly answerMs: number;
}

/**
 * One transaction after another for the same principal, on one connection. Each begins by saying who acts, and takes the
 * locks. The next one begins with the first statement after a commit. After a failure nothing more is sent.
 */
export class Transaction {
  readonly #parts: TransactionParts;
  readonly #acting: Acting;
  #connection: Promise<Connection> | null = null;
  #isBegun = false;
  #isOver = false;
  #failed: { readonly error: unknown } | null = null;

  constructor(parts: TransactionParts, acting: Acting) {
    this.#parts = parts;
    this.#acting = acting;
  }

  get isReadOnly(): boolean {
    return this.#acting.isReadOnly;
  }

  /** Another one for the same principal, with the same locks, that nothing ends early. */
  again(until: number): Transaction {
    return new Transaction(this.#parts, { ...this.#acting, until, signal: undefined });
  }

  /** Sends statements together. Returns the rows of each. */
  async ask(...statements: readonly Statement[]): Promise<Row[][]> {
    this.#refuseOver();
    const isFirst = !this.#isBegun;
    this.#isBegun = true;
    try {
      return await this.#untilEnded(() => (isFirst ? this.#sendFirst(statements) : this.#send(statements)));
    } catch (error) {
      this.#failed ??= { error };
      throw error;
    }
  }

  /**
   * Sends the last statements with the commit. If one fails, the database takes everything back. Throws `UnknownOutcome`
   * if nobody knows whether the commit was made, and `StaleCall` if it could not be sent.
   */
  async commit(...statements: readonly Statement[]): Promise<Row[][]> {
    this.#refuseOver();
    const begin = this.#isBegun ? [] : [this.#begin(), this.#enter()];
    const all = [...begin, ...statements, { text: "COMMIT", values: [] }];
    this.#isBegun = true;
    const connection = await this.#connected();
    // Of a connection that ended before, the database has taken everything back.
    if (connection.hasEnded) throw new StaleCall();
    try {
      const rows = await connection.send(all, this.#silentMs);
      this.#isBegun = false;
      return rows.slice(begin.length, -1);
    } catch (error) {
      // If the server has answered that a statement or the commit failed, it has rolled everything back.
      if (error instanceof DatabaseError && error.isLost) {
        this.#close();
        throw new UnknownOutcome("The connection was lost at the commit", { cause: error });
      }
      this.#failed ??= { error };
      throw error;
    }
  }

  /**
   * Ends what was not committed, and gives the connection back. Throws the failure of a statement that the work has not
   * thrown: a guest has got an answer that says nothing of it.
   */
  async end(): Promise<void> {
    this.#isOver = true;
    if (this.#failed !== null) {
      this.#close();
      throw this.#failed.error;
    }
    try {
      if (this.#isBegun) await this.#send([{ text: this.isReadOnly ? "COMMIT" : "ROLLBACK", values: [] }]);
    } catch {
      this.#close();
    }
    (await this.#connection)?.giveBack();
    this.#connection = null;
  }

  /** Closes the connection, so that nothing of it is left for anybody else. */
  drop(): void {
    this.#isOver = true;
    this.#close();
  }

  /** Whatever the database's defaults are: what waits for a lock must then see what the others have committed. */
  #begin(): Statement {
    return {
      text: this.isReadOnly
        ? "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        : "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
      values: [],
    };
  }

  #enter(): Statement {
    const { isRelaxed, clock } = this.#parts;
    return enter(this.#acting, { isRelaxed, nowMs: clock() });
  }

  /**
   * Begins a transaction. A connection that others have used can be dead: then nothing was done, and another one is
   * tried, until one is new.
   */
  async #sendFirst(statements: readonly Statement[]): Promise<Row[][]> {
    for (;;) {
      const connection = await this.#connected();
      try {
        const [, , ...rows] = await connection.send([this.#begin(), this.#enter(), ...statements], this.#silentMs);
        return rows;
      } catch (error) {
        const isOld = connection.wasUsed && error instanceof DatabaseError && error.isLost;
        if (!isOld || this.#isOver || this.#acting.signal?.aborted) throw error;
        this.#close();
        this.#isBegun = true;
      }
    }
  }

  async #send(statements: readonly Statement[]): Promise<Row[][]> {
    return await (await this.#connected()).send(statements, this.#silentMs);
  }

  get #silentMs(): number {
    return this.#parts.answerMs + Math.max(0, this.#acting.until - performance.now());
  }

  #connected(): Promise<Connection> {
    return (this.#connection ??= this.#parts.connect());
  }

  /** A server that waits for a lock answers nothing: whoever gives up closes the connection. */
  #untilEnded(work: () => Promise<Row[][]>): Promise<Row[][]> {
    const { signal } = this.#acting;
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

  #refuseOver(): void {
    if (this.#isOver) throw new RangeError("Cannot use the database: the work has ended");
    if (this.#failed !== null) throw this.#failed.error;
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
