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
 * Makes the change sets of some homes in one transaction, with `more`, which alone can as well be made twice. Returns
 * whether there was anything to do.
 */
export async function commitHomes(
  transaction: Transaction,
  commits: readonly HomeCommit[],
  more: readonly Statement[] = [],
): Promise<boolean> {
  for (const { commit } of commits) refuseBytes(commit.planned);
  const wanted = commits.flatMap(({ commit: { statement } }) => statement ?? []);
  if (wanted.length + more.length === 0) return false;
  const first = commits.find(({ commit }) => commit.statement !== null);
  const found = first && findChange(first.home.place, first.commit.id, first.home.facts.commits);
  await commitSurely(transaction, [...more, ...wanted], found ?? null);
  for (const { home, commit } of commits) home.hasCommitted(commit.facts);
  return true;
}
