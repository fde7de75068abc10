import type { Acting } from "./acting.ts";
import type { PoolClient } from "./connections.ts";
import { isConnectionLost } from "./database-failure.ts";
import { enter } from "./statements.ts";
import type { Row, Statement } from "./statements.ts";

export interface TransactionParts {
  readonly connect: () => Promise<PoolClient>;
  readonly isRelaxed: boolean;
  readonly clock: () => number;
}

/** The connection was lost at the commit: nobody knows yet whether the database has made it. */
export class UnknownOutcome extends Error {}

/**
 * One transaction after another for the same principal, on one connection. Each begins by saying who acts, and takes the
 * locks. The next one begins with the first statement after a commit.
 */
export class Transaction {
  readonly #parts: TransactionParts;
  readonly #acting: Acting;
  #client: PoolClient | null = null;
  #isBegun = false;

  constructor(parts: TransactionParts, acting: Acting) {
    this.#parts = parts;
    this.#acting = acting;
  }

  get isReadOnly(): boolean {
    return this.#acting.isSnapshot;
  }

  /** Another one for the same principal, with the same locks, that nothing ends early. */
  again(until: number): Transaction {
    return new Transaction(this.#parts, { ...this.#acting, until, signal: undefined });
  }

  /** Sends statements together. Returns the rows of each. */
  async ask(...statements: readonly Statement[]): Promise<Row[][]> {
    if (this.#isBegun) return await this.#send(statements);
    this.#isBegun = true;
    const [, , ...rows] = await this.#send([this.#begin(), this.#enter(), ...statements]);
    return rows;
  }

  /**
   * Sends the last statements with the commit. If one fails, the database takes everything back. Throws `UnknownOutcome`
   * if the connection is lost.
   */
  async commit(...statements: readonly Statement[]): Promise<Row[][]> {
    const begin = this.#isBegun ? [] : [this.#begin(), this.#enter()];
    this.#isBegun = true;
    try {
      const rows = await this.#send([...begin, ...statements, { text: "COMMIT", values: [] }]);
      this.#isBegun = false;
      return rows.slice(begin.length, -1);
    } catch (error) {
      if (!isConnectionLost(error)) throw error;
      this.drop();
      throw new UnknownOutcome("The connection was lost at the commit", { cause: error });
    }
  }

  /** Ends what was not committed, and gives the connection back. */
  async end(): Promise<void> {
    if (this.#isBegun) await this.#send([{ text: this.isReadOnly ? "COMMIT" : "ROLLBACK", values: [] }]);
    this.#isBegun = false;
    this.#client?.release();
    this.#client = null;
  }

  /** Closes the connection, so that nothing of it is left for anybody else. */
  drop(): void {
    this.#isBegun = false;
    this.#client?.release(true);
    this.#client = null;
  }

  #begin(): Statement {
    return { text: this.isReadOnly ? "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" : "BEGIN", values: [] };
  }

  #enter(): Statement {
    const { isRelaxed, clock } = this.#parts;
    return enter(this.#acting, { isRelaxed, nowMs: clock() });
  }

  async #send(statements: readonly Statement[]): Promise<Row[][]> {
    const { signal } = this.#acting;
    this.#client ??= await this.#parts.connect();
    const client = this.#client;
    // A server that waits for a lock answers nothing: whoever gives up closes the connection.
    const cancel = (): void => this.drop();
    signal?.addEventListener("abort", cancel);
    try {
      const results = await Promise.allSettled(statements.map((statement) => client.query<Row>(queryOf(statement))));
      if (signal?.aborted && this.#client === null) throw signal.reason;
      return results.map((result) => {
        if (result.status === "rejected") throw result.reason;
        return result.value.rows;
      });
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
  }
}

const queryOf = ({ text, values }: Statement): { text: string; values: unknown[] } => ({ text, values: [...values] });
