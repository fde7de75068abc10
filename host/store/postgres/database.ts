import { Slots } from "../../values/slots.ts";
import type { StoreId } from "../../values/store-id.ts";
import type { ToolError } from "../../values/tool-error.ts";
import type { Acting } from "./acting.ts";
import { Connections, inUse } from "./connections.ts";
import type { ConnectionsSetup } from "./connections.ts";
import { failureOfDatabase } from "./database-failure.ts";
import type { Row, Statement } from "./statements.ts";
import { Transaction } from "./transaction.ts";
import type { TransactionParts } from "./transaction.ts";

export interface DatabaseSetup extends ConnectionsSetup, Pick<TransactionParts, "isRelaxed" | "clock"> {}

/** How long a single statement may wait. */
const askMs = 30_000;

export interface ListeningClient {
  end(): Promise<void>;
}

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
  async act<Result>(
    acting: Acting,
    { action, tooLong }: { readonly action: string; readonly tooLong: (waitedMs: number) => ToolError },
    work: (transaction: Transaction) => Promise<Result>,
  ): Promise<Result> {
    const { until, signal } = acting;
    const beganMs = performance.now();
    await this.#slots.take({ until, signal, tooLong });
    const { isRelaxed, clock } = this.#setup;
    const transaction = new Transaction({ isRelaxed, clock, connect: () => this.#connections.take() }, acting);
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
    const client = await this.#connections.open();
    client.on("notification", ({ payload = "" }) => heard(payload));
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
    await this.#connections.close();
  }
}
