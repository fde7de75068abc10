import type { Client, PoolClient } from "./client.ts";
import { DatabaseError } from "./database-failure.ts";
import type { Row, Statement } from "./statements.ts";

/** A connection of the pool, in use. */
export class Connection {
  readonly #client: PoolClient;
  /** Whether others have used it before. It can have ended since, without a word. */
  readonly wasUsed: boolean;
  #underWay = 0;
  #hasEnded = false;
  readonly #onError = (): void => {
    this.#hasEnded = true;
  };

  constructor(client: PoolClient, wasUsed: boolean) {
    this.#client = client;
    this.wasUsed = wasUsed;
    client.on("error", this.#onError);
    // Sent together with the first statements. A server that cannot do one of them goes without.
    if (!wasUsed) for (const each of endWithHost) void client.query(each).catch(() => {});
  }

  /** Whether nothing can be sent any more. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /**
   * Sends statements together. Returns the rows of each. Throws the first failure. After `silentMs` without an answer to
   * all, the connection is lost.
   */
  async send(statements: readonly Statement[], silentMs: number): Promise<Row[][]> {
    this.#underWay++;
    const timer = setTimeout(() => this.#cut(), Math.min(silentMs, 2 ** 31 - 1));
    try {
      const results = await Promise.allSettled(statements.map((each) => this.#client.query<Row>(queryOf(each))));
      return results.map((result, at) => {
        if (result.status === "rejected") throw new DatabaseError(result.reason, at);
        return result.value.rows;
      });
    } finally {
      clearTimeout(timer);
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
    if (this.#underWay > 0) this.#cut();
  }

  #cut(): void {
    (this.#client as unknown as Client).connection.stream.destroy();
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

const queryOf = ({ text, values }: Statement): { text: string; values: unknown[] } => ({ text, values: [...values] });
