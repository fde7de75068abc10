import { refuseBytes } from "../plan-changes.ts";
import { commitSurely } from "./commit-surely.ts";
import type { HeldHome } from "./held-home.ts";
import type { PlannedCommit } from "./planned-commit.ts";
import { findChange } from "./statements.ts";
import type { Statement } from "./statements.ts";
import type { Transaction } from "./transaction.ts";

export interface HomeCommit {
  readonly home: HeldHome;
  readonly commit: PlannedCommit;
}

/**
 * Makes the change set of a home in one transaction, with `more`, which alone can as well be made twice. Returns whether
 * there was anything to do.
 */
export async function commitHome(
  transaction: Transaction,
  { home, commit: { id, statement, facts, planned } }: HomeCommit,
  more: readonly Statement[] = [],
): Promise<boolean> {
  refuseBytes(planned);
  const wanted = statement === null ? more : [...more, statement];
  if (wanted.length === 0) return false;
  await commitSurely(transaction, wanted, statement && findChange(home.place, id, home.facts.commits));
  home.hasCommitted(facts);
  return true;
}
