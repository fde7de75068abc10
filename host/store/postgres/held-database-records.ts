import { ownStoreOf } from "../../values/store-id.ts";
import type { StoreId } from "../../values/store-id.ts";
import type { UserId } from "../../values/user-id.ts";
import { checkRecordName } from "../held-records.ts";
import type { HeldRecords, RecordDecision, RecordKind } from "../held-records.ts";
import type { HeldHistory } from "../versions/held-history.ts";
import { commitSurely } from "./commit-surely.ts";
import { areRecords, nameHome, nameRecords, readRecord, removeRecord, writeRecord } from "./statements.ts";
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

  /** `checkWrites` throws if the user is held for reading only. */
  constructor(transaction: Transaction, userId: UserId, checkWrites: () => void) {
    this.#transaction = transaction;
    this.#userId = userId;
    this.#checkWrites = checkWrites;
  }

  get #tenant(): StoreId {
    return ownStoreOf(this.#userId);
  }

  /** Makes the changes durable. */
  async commit(): Promise<void> {
    if (this.#changed.size === 0) return;
    await commitSurely(this.#transaction, [], areRecords(this.#tenant, [...this.#changed.values()]));
  }

  async names(kind: RecordKind): Promise<string[]> {
    const [rows = []] = await this.#transaction.ask(nameRecords(this.#tenant, kind));
    return rows.map(({ name }) => String(name));
  }

  async read(kind: RecordKind, name: string): Promise<string | null> {
    checkRecordName(name);
    const [rows = []] = await this.#transaction.ask(readRecord(this.#tenant, kind, name));
    return rows[0] === undefined ? null : String(rows[0]["body"]);
  }

  async write(kind: RecordKind, name: string, text: string): Promise<void> {
    checkRecordName(name);
    this.#checkWrites();
    const home = nameHome({ tenant: this.#tenant, kind: "user" }, this.#userId);
    await this.#transaction.ask(home, writeRecord(this.#tenant, kind, name, text));
    this.#changed.set(`${kind}/${name}`, { kind, name, text });
  }

  async remove(kind: RecordKind, name: string): Promise<void> {
    checkRecordName(name);
    this.#checkWrites();
    await this.#transaction.ask(removeRecord(this.#tenant, kind, name));
    this.#changed.set(`${kind}/${name}`, { kind, name, text: null });
  }
}
