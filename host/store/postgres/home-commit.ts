import { StaleCall } from "../plan-changes.ts";
import { findOutcome } from "./find-outcome.ts";
import type { HeldHome } from "./held-home.ts";
import type { PlannedCommit } from "./planned-commit.ts";
import { findChange } from "./statements.ts";
import type { Statement } from "./statements.ts";
import { UnknownOutcome } from "./transaction.ts";
import type { Transaction } from "./transaction.ts";

export interface HomeCommit {
  readonly home: HeldHome;
  readonly commit: PlannedCommit;
}

/**
 * Makes the change sets of some homes in one transaction, with `more`. If the connection is lost meanwhile, first finds
 * out what became of it; if nothing, the call runs again.
 */
export async function commitHomes(
  transaction: Transaction,
  commits: readonly HomeCommit[],
  more: readonly Statement[] = [],
): Promise<void> {
  const wanted = commits.flatMap(({ commit: { statement } }) => statement ?? []);
  if (wanted.length + more.length === 0) return;
  try {
    await transaction.commit(...more, ...wanted);
  } catch (error) {
    if (!(error instanceof UnknownOutcome)) throw error;
    const first = commits.find(({ commit }) => commit.statement !== null);
    // Without a change set, all of it can as well be made twice.
    if (first === undefined) throw new StaleCall({ cause: error });
    const { home, commit } = first;
    const found = findChange(home.place, commit.id, home.facts.commits);
    if (!(await findOutcome(transaction, found))) throw new StaleCall({ cause: error });
  }
  for (const { home, commit } of commits) home.hasCommitted(commit.facts);
}
