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
    // Sent together with the first statements. Servers that do not know it, or cannot, go without.
    if (!wasUsed) void client.query(endsWithHost).catch(() => {});
  }

  /** Whether nothing can be sent any more. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Sends statements together. Returns the rows of each. Throws the first failure. */
  async send(statements: readonly Statement[]): Promise<Row[][]> {
    this.#underWay++;
    try {
      const results = await Promise.allSettled(statements.map((each) => this.#client.query<Row>(queryOf(each))));
      return results.map((result, at) => {
        if (result.status === "rejected") throw new DatabaseError(result.reason, at);
        return result.value.rows;
      });
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
    if (this.#underWay > 0) (this.#client as unknown as Client).connection.stream.destroy();
  }
}

/** A session that waits for a lock ends soon after its host, or after the host has given up. */
const endsWithHost = "SET client_connection_check_interval = '2s'";

const queryOf = ({ text, values }: Statement): { text: string; values: unknown[] } => ({ text, values: [...values] });
