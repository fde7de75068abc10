/** Decisions about records in engines that keep files and records apart: first what is begun, the commit, then the rest. */
import { asToolError } from "../values/tool-error.ts";
import type { UserId } from "../values/user-id.ts";
import type { HeldRecords, RecordDecision } from "./held-records.ts";
import type { HoldOptions } from "./holding.ts";
import type { HeldStores, SharedStores } from "./shared-stores.ts";
import type { HeldUser } from "./store.ts";
import type { HeldHistory } from "./versions/held-history.ts";

/** Holds a user's records. Anything that can be held while they are comes after them. */
type HoldRecords = <Result>(
  userId: UserId,
  options: Pick<HoldOptions, "writes" | "until" | "signal">,
  work: (records: HeldRecords) => Promise<Result>,
) => Promise<Result>;

/** Where a commit decides. */
export interface DecidedRecords {
  readonly records: HeldRecords;
  readonly history: HeldHistory;
  readonly note: (text: string) => void;
}

export async function commitDecided<Result>(
  decision: RecordDecision | undefined,
  { records, history, note }: DecidedRecords,
  commit: () => Promise<Result>,
): Promise<Result> {
  await decision?.begin(records, history);
  const result = await commit();
  // The change counts. What has begun says so, and the next decision ends it.
  await decision
    ?.end(records)
    .catch((error: unknown) => note(`a record is left: ${asToolError(error, "remove it").message}`));
  return result;
}

/** A user's scopes whose records are elsewhere. */
export function withRecordsOf(held: HeldUser, records: HeldRecords, note: (text: string) => void): HeldUser {
  return {
    ...held,
    commit: (changes, seen, { decision, ...more } = {}) =>
      commitDecided(decision, { records, history: held.history, note }, () => held.commit(changes, seen, more)),
  };
}

/** Shared stores, with the records of users that are held as well if a work asks for it. */
export function storesWithRecords(
  stores: SharedStores,
  holdRecords: HoldRecords,
  note: (userId: UserId, text: string) => void,
): SharedStores {
  return {
    hold: async (ids, { recordsOf, ...options }, work) => {
      if (recordsOf === undefined) return await stores.hold(ids, options, work);
      const { until, signal } = options;
      return await holdRecords(recordsOf, { writes: true, until, signal }, (records) =>
        stores.hold(ids, options, (held) => work(deciding(held, records, (text) => note(recordsOf, text)))),
      );
    },
    ids: () => stores.ids(),
    hintsOf: (principal) => stores.hintsOf(principal),
    leave: (...asked) => stores.leave(...asked),
    forgetHints: (...asked) => stores.forgetHints(...asked),
    owners: () => stores.owners(),
  };
}

function deciding(held: HeldStores, records: HeldRecords, note: (text: string) => void): HeldStores {
  const commitEach: HeldStores["commitEach"] = async (parts, done) => {
    const [first, ...others] = parts;
    if (first === undefined || others.length > 0) return await held.commitEach(parts, done);
    const [id, { decision, ...changes }] = first;
    await commitDecided(decision, { records, history: held.history(id), note }, () =>
      held.commitEach([[id, changes]], done),
    );
  };
  return {
    has: (id) => held.has(id),
    reader: (id) => held.reader(id),
    get seen() {
      return held.seen;
    },
    history: (id) => held.history(id),
    get knownSizes() {
      return held.knownSizes;
    },
    get handed() {
      return held.handed;
    },
    commit: (id, changes) => commitEach([[id, changes]], () => {}),
    commitEach,
    findings: (id) => held.findings(id),
  };
}
