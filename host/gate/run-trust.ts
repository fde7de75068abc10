/** How far the runs of users are trusted: each as the least trusted entry that it has read. */
import type { ErrorCode } from "../../shared/errors.ts";
import { isAtLeast, lowestOf } from "../../shared/origin.ts";
import type { OriginClass } from "../../shared/origin.ts";
import type { HostRecords } from "../store/host-records.ts";
import { ToolError } from "../values/tool-error.ts";
import type { UserId } from "../values/user-id.ts";
import { isMarked, lowerRun, readRuns, renewRuns, trustOf } from "./known-runs.ts";

/** A run of a user. */
export interface UserRun {
  readonly userId: UserId;
  readonly run: string;
}

/** Entries of the user are as good as any text of the user, so a run that reads only such entries needs no record. */
export const lowersRun = (trust: OriginClass): boolean => !isAtLeast(trust, "direct_user");

/** Then no record can be written for long, and reads go on. */
const unwritable: ReadonlySet<ErrorCode> = new Set(["READ_ONLY", "STORAGE_FULL", "STORAGE_FAILED"]);

/** How many runs are remembered without a record. */
const unwrittenMax = 10_000;

export class RunTrust {
  readonly #clock: () => number;
  /** Of runs whose record could not be written. They count in this process. */
  readonly #unwritten = new Map<string, OriginClass>();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /**
   * The lowest trust that a run has read so far. A record that cannot be read lowers every run, and is begun anew if it can
   * be written: its replacement does so only as long as runs are remembered.
   */
  async of(records: HostRecords, { userId, run }: UserRun): Promise<OriginClass> {
    const nowMs = this.#clock();
    const known = await readRuns(records, nowMs);
    const trust = trustOf(known, run, nowMs);
    try {
      if (known.fault !== null) await renewRuns(records, nowMs);
      else if (!isMarked(known, run, nowMs)) await lowerRun(records, { run, trust }, nowMs);
      await records.commit();
    } catch (error) {
      // It stays as it is, and lowers every run.
      if (!(error instanceof ToolError)) throw error;
      records.drop();
    }
    return lowestOf(trust, this.#unwritten.get(keyOf({ userId, run })) ?? "owner_edit");
  }

  /** Whether the record of a run says already that it has read this. */
  async isLow(records: HostRecords, of: UserRun, trust: OriginClass): Promise<boolean> {
    // Another read can find that the record can be written again.
    if (this.#unwritten.has(keyOf(of))) return false;
    const nowMs = this.#clock();
    const known = await readRuns(records, nowMs);
    return isAtLeast(trust, trustOf(known, of.run, nowMs)) && isMarked(known, of.run, nowMs);
  }

  /**
   * A run, if it is one, has read entries, if it has. Returns whether there is anything to commit; `written` follows when that
   * is durable.
   */
  async lower(records: HostRecords, of: UserRun | null, trust: OriginClass | null): Promise<boolean> {
    if (of === null || trust === null || !lowersRun(trust) || (await this.isLow(records, of, trust))) return false;
    const unwritten = this.#unwritten.get(keyOf(of)) ?? trust;
    await lowerRun(records, { run: of.run, trust: lowestOf(trust, unwritten) }, this.#clock());
    return true;
  }

  /** What `lower` has staged is durable. */
  written(of: UserRun | null): void {
    if (of !== null) this.#unwritten.delete(keyOf(of));
  }

  /**
   * The record could not be written. Throws the error, so that the answer is withheld, if the medium can be written for
   * others; not of a call that has committed (`isNeeded` is false).
   */
  keep(of: UserRun, trust: OriginClass, { error, isNeeded }: { error: unknown; isNeeded: boolean }): void {
    if (isNeeded && !(error instanceof ToolError && unwritable.has(error.tableCode))) throw error;
    const key = keyOf(of);
    const before = this.#unwritten.get(key) ?? trust;
    this.#unwritten.delete(key);
    this.#unwritten.set(key, lowestOf(trust, before));
    const [oldest] = this.#unwritten.keys();
    if (this.#unwritten.size > unwrittenMax && oldest !== undefined) this.#unwritten.delete(oldest);
  }
}

const keyOf = ({ userId, run }: UserRun): string => `${userId}\n${run}`;
