import { setTimeout as wait } from "node:timers/promises";

import { ToolError } from "../../values/tool-error.ts";
import { StaleCall } from "../plan-changes.ts";
import { DatabaseError, UnknownOutcome } from "./database-failure.ts";
import type { Row, Statement } from "./statements.ts";
import type { Transaction } from "./transaction.ts";

/** How long it is tried, and how long between two tries. */
const [findMs, pauseMs] = [30_000, 100] as const;

/**
 * Commits the last statements of a transaction. If the connection is lost meanwhile, first finds out what became of it:
 * `found` has rows if it was made. If nothing, throws `StaleCall`, so that the call runs again. Without `found`, the
 * change can as well be made twice.
 */
export async function commitSurely(
  transaction: Transaction,
  statements: readonly Statement[],
  found: Statement | null,
): Promise<Row[][]> {
  try {
    return await transaction.commit(...statements);
  } catch (error) {
    if (!(error instanceof UnknownOutcome)) throw error;
    if (found !== null && (await findOutcome(transaction, found))) return [];
    throw new StaleCall({ cause: error });
  }
}

/**
 * Whether a transaction with an unknown outcome was committed: then `found` has rows. Takes the same locks first, so the
 * lost one has ended by then. Throws `STORAGE_FAILED` if the database cannot be asked for long.
 */
async function findOutcome(lost: Transaction, found: Statement): Promise<boolean> {
  const until = performance.now() + findMs;
  for (;;) {
    const transaction = lost.again(until);
    try {
      const [rows = []] = await transaction.ask(found);
      await transaction.end();
      return rows.length > 0;
    } catch (error) {
      transaction.drop();
      if (!(error instanceof DatabaseError) || performance.now() >= until) throw unknown(error);
    }
    await wait(pauseMs);
  }
}

const unknown = (cause: unknown): ToolError =>
  new ToolError("STORAGE_FAILED", "Cannot say whether the change was made: the database cannot be reached", { cause });
