import { Slots } from "../../values/slots.ts";
import type { StoreId } from "../../values/store-id.ts";
import type { ToolError } from "../../values/tool-error.ts";
import { untilFresh } from "../plan-changes.ts";
import { commitSurely } from "./commit-surely.ts";
import type { Connection } from "./connection.ts";
import { Connections, askClient, endClient, inUse } from "./connections.ts";
import type { ConnectionsSetup } from "./connections.ts";
import { failureOfDatabase } from "./database-failure.ts";
import type { Acting, Row, Statement } from "./statements.ts";
import { Transaction } from "./transaction.ts";
import type { TransactionParts } from "./transaction.ts";

export interface DatabaseSetup extends ConnectionsSetup, Pick<TransactionParts, "isRelaxed" | "clock"> {
  /** How long the database may say nothing. Default: a minute. */
  readonly answerMs?: number;
}

/** How long a single statement may wait. */
const askMs = 30_000;

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
    const { isRelaxed, clock, answerMs = 60_000 } = this.#setup;
    const connect = (): Promise<Connection> => this.#connections.take();
    const transaction = new Transaction({ isRelaxed, clock, answerMs, connect }, acting);
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

  /** Reads with one statement. */
  async ask(who: StoreId, statement: Statement): Promise<Row[]> {
    const acting = { who, locks: [], isReadOnly: true, until: performance.now() + askMs };
    const [rows = []] = await this.act(acting, asking, (transaction) => transaction.ask(statement));
    return rows;
  }

  /** Makes a change that can as well be made twice, so nobody has to find out what became of the first. */
  async change(who: StoreId, statement: Statement): Promise<Row[]> {
    const acting = { who, locks: [], isReadOnly: false, until: performance.now() + askMs };
    return await untilFresh({}, () =>
      this.act(acting, asking, async (transaction) => (await commitSurely(transaction, [statement], null))[0] ?? []),
    );
  }

  /** Hears what is told on a channel, over a connection of its own. `ended`: it was lost. Returns what ends it. */
  async listen(
    channel: string,
    { heard, ended }: { readonly heard: (text: string) => void; readonly ended: () => void },
  ): Promise<() => Promise<void>> {
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
