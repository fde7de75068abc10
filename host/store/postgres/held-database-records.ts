import { randomUUID } from "node:crypto";

import { ownStoreOf } from "../../values/store-id.ts";
import type { StoreId } from "../../values/store-id.ts";
import type { UserId } from "../../values/user-id.ts";
import { checkRecordName } from "../held-records.ts";
import type { HeldRecords, MarkedRuns, RecordDecision, RecordKind } from "../held-records.ts";
import type { HeldHistory } from "../versions/held-history.ts";
import type { LoweredRun } from "../versions/lowered-runs.ts";
import { loweringAfter } from "../versions/plan-versions.ts";
import { listLowered } from "./clock-and-run-statements.ts";
import { commitChange } from "./commit-statement.ts";
import { commitSurely } from "./commit-surely.ts";
import { loweredIn } from "./held-database-history.ts";
import { factsOf } from "./held-home.ts";
import type { HomePlace } from "./home-place.ts";
import { areRecords, homeFacts, nameHome, nameRecords, readRecord, removeRecord, writeRecord } from "./statements.ts";
import type { Transaction } from "./transaction.ts";

export interface DecidingCommit {
  readonly transaction: Transaction;
  readonly userId: UserId;
  readonly decision: RecordDecision;
  readonly history: HeldHistory;
}

/** Makes a decision and a commit in one transaction. `commit` returns whether there was anything to do. */
export async function commitDeciding(
  { transaction, userId, decision, history }: DecidingCommit,
  commit: () => Promise<boolean>,
): Promise<void> {
  const records = new HeldDatabaseRecords(transaction, userId, () => {});
  await decision.begin(records, history);
  await decision.end(records);
  if (!(await commit())) await records.commit();
}

/** The host's records about a user, in one transaction. They are durable when the hold ends. */
export class HeldDatabaseRecords implements HeldRecords {
  readonly #transaction: Transaction;
  readonly #userId: UserId;
  readonly #checkWrites: () => void;
  /** What was written, by kind and name; `null` for what was removed. */
  readonly #changed = new Map<
    string,
    { readonly kind: RecordKind; readonly name: string; readonly text: string | null }
  >();
  /** Whether the history has got a version. It can as well be asked for twice: whoever adds one looks first. */
  #hasLowered = false;

  /** `checkWrites` throws if the user is held for reading only. */
  constructor(transaction: Transaction, userId: UserId, checkWrites: () => void) {
    this.#transaction = transaction;
    this.#userId = userId;
    this.#checkWrites = checkWrites;
  }

  get #tenant(): StoreId {
    return ownStoreOf(this.#userId);
  }

  get #place(): HomePlace {
    return { tenant: this.#tenant, kind: "user" };
  }

  /** Makes the changes durable. */
  async commit(): Promise<void> {
    const changed = [...this.#changed.values()];
    if (changed.length === 0 && !this.#hasLowered) return;
    await commitSurely(this.#transaction, [], changed.length === 0 ? null : areRecords(this.#tenant, changed));
  }

  async names(kind: RecordKind): Promise<string[]> {
    return [...(await this.sizes(kind)).keys()];
  }

  async sizes(kind: RecordKind): Promise<ReadonlyMap<string, number>> {
    const [rows = []] = await this.#transaction.ask(nameRecords(this.#tenant, kind));
    return new Map(rows.map(({ name, bytes }) => [String(name), Number(bytes)]));
  }

  async read(kind: RecordKind, name: string): Promise<string | null> {
    checkRecordName(name);
    const [rows = []] = await this.#transaction.ask(readRecord(this.#tenant, kind, name));
    return rows[0] === undefined ? null : String(rows[0]["body"]);
  }

  async write(kind: RecordKind, name: string, text: string): Promise<void> {
    checkRecordName(name);
    this.#checkWrites();
    await this.#transaction.ask(nameHome(this.#place, this.#userId), writeRecord(this.#tenant, kind, name, text));
    this.#changed.set(`${kind}/${name}`, { kind, name, text });
  }

  async loweredRuns(): Promise<MarkedRuns> {
    const [facts = [], rows = []] = await this.#transaction.ask(homeFacts(this.#place), listLowered(this.#place));
    return { runs: loweredIn(rows), isWhole: !factsOf(facts[0]).isBroken };
  }

  async noteLowered(lowered: LoweredRun): Promise<void> {
    this.#checkWrites();
    const [rows = []] = await this.#transaction.ask(homeFacts(this.#place));
    const versions = loweringAfter(factsOf(rows[0]).head, lowered, this.#userId);
    const change = { id: randomUUID(), userId: this.#userId, lines: versions.map(({ line }) => line) };
    const head = versions.at(-1)?.head ?? null;
    await this.#transaction.ask(commitChange(this.#place, { ...noChange, ...change, head }));
    this.#hasLowered = true;
  }

  async remove(kind: RecordKind, name: string): Promise<void> {
    checkRecordName(name);
    this.#checkWrites();
    await this.#transaction.ask(removeRecord(this.#tenant, kind, name));
    this.#changed.set(`${kind}/${name}`, { kind, name, text: null });
  }
}

/** Of files. What the history keeps is bounded with the next change of files. */
const noChange = { seen: [], gone: [], put: [], forgotten: [], agedMs: null, keptBytesMax: Number.MAX_SAFE_INTEGER };
