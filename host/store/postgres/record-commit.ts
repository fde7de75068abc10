import type { StoreId } from "../../values/store-id.ts";
import { StaleCall } from "../plan-changes.ts";
import { findOutcome } from "./find-outcome.ts";
import type { HeldDatabaseRecords } from "./held-database-records.ts";
import { areRecords } from "./statements.ts";
import { UnknownOutcome } from "./transaction.ts";
import type { Transaction } from "./transaction.ts";

/** Makes the changes of records durable. If the connection is lost meanwhile, first finds out what became of them. */
export async function commitRecords(
  transaction: Transaction,
  tenant: StoreId,
  { changed }: HeldDatabaseRecords,
): Promise<void> {
  if (changed.size === 0) return;
  try {
    await transaction.commit();
  } catch (error) {
    if (!(error instanceof UnknownOutcome)) throw error;
    if (!(await findOutcome(transaction, areRecords(tenant, [...changed.values()]))))
      throw new StaleCall({ cause: error });
  }
}
