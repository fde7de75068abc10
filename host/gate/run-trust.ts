/** How far the runs of users are trusted: each as the least trusted entry that it has read. */
import type { ErrorCode } from "../../shared/errors.ts";
import { isAtLeast, lowestOf } from "../../shared/origin.ts";
import type { OriginClass } from "../../shared/origin.ts";
import type { HeldRecords } from "../store/held-records.ts";
import type { HoldOptions, Store } from "../store/store.ts";
import { ToolError } from "../values/tool-error.ts";
import type { UserId } from "../values/user-id.ts";
import { isMarked, lowerRun, readRuns, renewRuns, trustOf } from "./known-runs.ts";

type Waiting = Pick<HoldOptions, "until" | "signal">;

interface Lowering extends Waiting {
  /** Whether the answer is withheld if the record cannot be written: not of a call that has committed. */
  readonly isNeeded: boolean;
}

/** Entries of the user are as good as any text of the user, so a run that reads only such entries needs no record. */
const isUsers = (trust: OriginClass): boolean => isAtLeast(trust, "direct_user");

/** Then no record can be written for long, and reads go on. */
const unwritable: ReadonlySet<ErrorCode> = new Set(["READ_ONLY", "STORAGE_FULL", "STORAGE_FAILED"]);

/** How many runs are remembered without a record. */
const unwrittenMax = 10_000;

export class RunTrust {
  readonly #store: Store;
  readonly #clock: () => number;
  /** Of runs whose record could not be written. They count in this process. */
  readonly #unwritten = new Map<string, OriginClass>();

  constructor(store: Store, clock: () => number) {
    this.#store = store;
    this.#clock = clock;
  }

  /** The lowest trust that a run has read so far. */
  async of(userId: UserId, run: string, waiting: Waiting): Promise<OriginClass> {
    const { trust, fault, isNoted } = await this.#look(userId, run, waiting);
    if (fault !== null) await this.#tryToWrite(userId, waiting, (records) => renewRuns(records, this.#clock()));
    else if (!isNoted) {
      await this.#tryToWrite(userId, waiting, (records) => lowerRun(records, { run, trust }, this.#clock()));
    }
    return lowestOf(trust, this.#unwritten.get(keyOf(userId, run)) ?? "owner_edit");
  }

  /** A run has read entries. Durable before its model gets the answer, if the medium can be written. */
  async lower(userId: UserId, run: string, trust: OriginClass, { isNeeded, ...waiting }: Lowering): Promise<void> {
    if (isUsers(trust)) return;
    const key = keyOf(userId, run);
    const unwritten = this.#unwritten.get(key);
    try {
      // Another read can find that the record can be written again.
      if (unwritten === undefined) {
        const known = await this.#look(userId, run, waiting);
        if (isAtLeast(trust, known.trust) && known.isNoted) return;
      }
      await this.#store.holdRecords(userId, { ...waiting, writes: true }, (records) =>
        lowerRun(records, { run, trust: lowestOf(trust, unwritten ?? trust) }, this.#clock()),
      );
      this.#unwritten.delete(key);
    } catch (error) {
      const isKept = !isNeeded || (error instanceof ToolError && unwritable.has(error.tableCode));
      if (!isKept) throw error;
      this.#keep(key, trust);
    }
  }

  async #look(
    userId: UserId,
    run: string,
    waiting: Waiting,
  ): Promise<{ readonly trust: OriginClass; readonly fault: string | null; readonly isNoted: boolean }> {
    return await this.#store.holdRecords(userId, { ...waiting, writes: false }, async (records) => {
      const nowMs = this.#clock();
      const known = await readRuns(records, nowMs);
      const trust = trustOf(known, run, nowMs);
      return { trust, fault: known.fault, isNoted: isMarked(known, run, nowMs) };
    });
  }

  /** A record that cannot be read lowers every run. Its replacement does so only as long as runs are remembered. */
  async #tryToWrite(userId: UserId, waiting: Waiting, write: (records: HeldRecords) => Promise<void>): Promise<void> {
    try {
      await this.#store.holdRecords(userId, { ...waiting, writes: true }, write);
    } catch (error) {
      // It stays as it is, and lowers every run.
      if (!(error instanceof ToolError)) throw error;
    }
  }

  #keep(key: string, trust: OriginClass): void {
    const before = this.#unwritten.get(key) ?? trust;
    this.#unwritten.delete(key);
    this.#unwritten.set(key, lowestOf(trust, before));
    const [oldest] = this.#unwritten.keys();
    if (this.#unwritten.size > unwrittenMax && oldest !== undefined) this.#unwritten.delete(oldest);
  }
}

const keyOf = (userId: UserId, run: string): string => `${userId}\n${run}`;
