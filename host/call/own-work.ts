/** The host's own work on a user's files and stores: in the user's turn, under the locks, on record. */
import type { CallRecord } from "../audit/collect/call-record.ts";
import type { ErasedFacts, UpkeepRecord } from "../audit/collect/upkeep-record.ts";
import { causeLines } from "../log/failure-line.ts";
import type { LogEntry, LogLine, LogSource } from "../log/log-entry.ts";
import { writeLog } from "../log/write-log.ts";
import type { ChangedGrants } from "../sharing/changed-grants.ts";
import { inStore, ownReader } from "../sharing/own-store.ts";
import type { ErasedUser, HeldToErase, HoldToEraseOptions } from "../store/erasing.ts";
import type { HeldRecords } from "../store/held-records.ts";
import type { HeldStores } from "../store/shared-stores.ts";
import type { HeldUser, HoldOptions, Store } from "../store/store.ts";
import type { SizedChange } from "../values/change-set.ts";
import { ownStoreOf, storeOfScope } from "../values/store-id.ts";
import type { StoreId } from "../values/store-id.ts";
import { asToolError, ToolError } from "../values/tool-error.ts";
import type { WaitingId } from "../values/tool-error.ts";
import { giveTurn } from "../values/turns.ts";
import type { UserId } from "../values/user-id.ts";
import type { Admission, AskedTurn, Turn } from "./admission.ts";
import type { HostWork, PreparedChanges } from "./asked-call.ts";
import { changeOf, noticeOf } from "./listeners.ts";
import type { Listeners } from "./listeners.ts";

export interface OwnWorkParts {
  readonly store: Store;
  readonly admission: Admission;
  readonly listeners: Listeners;
  readonly onLog: (entry: LogEntry) => void;
}

export class OwnWork {
  readonly #parts: OwnWorkParts;
  /** What listeners are told at the end of a user's turn, by user. */
  readonly #untold = new Map<string, (() => void)[]>();

  constructor(parts: OwnWorkParts) {
    this.#parts = parts;
  }

  /**
   * Does the work when its turn has come, or in `turn`, if that is given. Writes the cause of a failure to the operator's
   * log.
   */
  async admit<Result>(
    asked: AskedTurn,
    { source }: CallRecord | UpkeepRecord,
    work: (turn: Turn) => Promise<Result>,
    turn?: Turn,
  ): Promise<Result> {
    try {
      if (turn !== undefined) return await work(turn);
      return await this.#parts.admission.run(asked, (own) => this.#thenTell(asked.userId, work(own)));
    } catch (error) {
      const failure = asToolError(error, asked.action);
      this.log(causeLines(failure), source);
      throw failure;
    }
  }

  /** Works on a user's files. */
  hold<Result>(
    asked: HostWork,
    options: Omit<HoldOptions, "until" | "signal">,
    work: (held: HeldUser, turn: Turn) => Promise<Result>,
  ): Promise<Result> {
    return this.#inTurn(asked, (turn, begin) =>
      this.#parts.store.hold(asked.userId, { ...options, ...waitOf(turn) }, (held) => begin(() => work(held, turn))),
    );
  }

  /** Works on what the host keeps about a user. */
  holdRecords<Result>(
    asked: HostWork,
    options: Pick<HoldOptions, "writes" | "isLookingOnly">,
    work: (records: HeldRecords) => Promise<Result>,
  ): Promise<Result> {
    return this.#inTurn(asked, (turn, begin) =>
      this.#parts.store.holdRecords(asked.userId, { ...options, ...waitOf(turn) }, (records) =>
        begin(() => work(records)),
      ),
    );
  }

  /** Works on everything that a user has. */
  holdToErase<Result>(
    asked: HostWork,
    to: HoldToEraseOptions["to"],
    work: (held: HeldToErase) => Promise<Result>,
  ): Promise<Result> {
    return this.#inTurn(asked, (turn, begin) =>
      this.#parts.store.holdToErase(asked.userId, { to, ...waitOf(turn) }, (held) => begin(() => work(held))),
    );
  }

  /** Works on shared stores. */
  holdStores<Result>(
    asked: HostWork,
    ids: readonly StoreId[],
    options: Pick<HoldOptions, "writes" | "isLookingOnly">,
    work: (held: HeldStores) => Promise<Result>,
  ): Promise<Result> {
    return this.#inTurn(asked, (turn, begin) =>
      this.#parts.store.shared.hold(ids, { ...options, ...waitOf(turn) }, (held) => begin(() => work(held))),
    );
  }

  /** Works on whatever it holds itself, in the user's turn. */
  inTurn<Result>(asked: HostWork, work: (turn: Turn) => Promise<Result>): Promise<Result> {
    return this.#inTurn(asked, work);
  }

  /** Notifies listeners of a commit when nothing is held any more, before the user's next turn. */
  tellLater(changes: readonly SizedChange[], record: CallRecord | UpkeepRecord): void {
    const { listeners } = this.#parts;
    if (!listeners.isHeard("onChange")) return;
    this.#later(record, () => listeners.tell("onChange", changeOf(changes, record), record.source));
  }

  /** The same for a write that waits. */
  tellOfPending(pending: WaitingId, record: CallRecord | UpkeepRecord): void {
    const { listeners } = this.#parts;
    this.#later(record, () => listeners.tell("onPending", noticeOf(pending, record), record.source));
  }

  #later({ source }: CallRecord | UpkeepRecord, tell: () => void): void {
    const untold = this.#untold.get(source.userId) ?? [];
    this.#untold.set(source.userId, untold);
    untold.push(tell);
  }

  async #thenTell<Result>(userId: UserId, work: Promise<Result>): Promise<Result> {
    try {
      return await work;
    } finally {
      const untold = this.#untold.get(userId) ?? [];
      this.#untold.delete(userId);
      for (const tell of untold) tell();
    }
  }

  /** Records a change set, commits it, notifies listeners. A change set that cannot be recorded is not committed. */
  async commit(
    { changes, seen, ...more }: PreparedChanges,
    held: HeldUser,
    record: CallRecord | UpkeepRecord,
  ): Promise<void> {
    if (changes.length === 0) return;
    // The record is made in one piece, which counts in a turn that has begun.
    await giveTurn();
    record.staged(changes);
    await held.commit(changes, seen, more);
    record.committed();
    record.versioned([{ store: storeOfScope(changes[0]?.scope ?? ""), ...held.history.head }]);
    this.tellLater(changes, record);
  }

  /** Records new grants of a store, then commits them. */
  async commitGrants(
    { stored, changes }: ChangedGrants,
    { held, userId }: { readonly held: HeldStores; readonly userId: UserId },
    record: UpkeepRecord,
  ): Promise<void> {
    record.staged([], changes);
    await held.commit(ownStoreOf(userId), { by: userId, changes: [], seen: [], grants: stored });
    record.committed();
  }

  /** Records what is erased, erases it, notifies listeners. What cannot be recorded is not erased. */
  async erase(held: HeldToErase, { own, erasedMs, ...facts }: Erasing, record: UpkeepRecord): Promise<ErasedUser> {
    const removed = !this.#parts.listeners.isHeard("onChange") ? [] : await removalsOf(held, own);
    record.erasing(facts);
    const erased = await held.erase(erasedMs);
    record.committed();
    this.tellLater(removed, record);
    return erased;
  }

  log(lines: readonly LogLine[], source: LogSource): void {
    for (const line of lines) writeLog(this.#parts.onLog, { ...line, ...source });
  }

  #inTurn<Result>(
    { action, record, userId, signal, until }: HostWork,
    work: (turn: Turn, begin: (work: () => Promise<Result>) => Promise<Result>) => Promise<Result>,
  ): Promise<Result> {
    return this.admit({ action, userId, signal, until, inputBytes: 0 }, record, (turn) =>
      work(turn, (begun) => {
        turn.endWait();
        turn.signal.throwIfAborted();
        return begun();
      }),
    );
  }
}

interface Erasing extends ErasedFacts {
  /** The user's own store. */
  readonly own: StoreId;
  readonly erasedMs: number;
}

/** The files that are erased, for listeners: nothing that they cannot read keeps anybody from erasing it. */
async function removalsOf({ reader, stores }: HeldToErase, own: StoreId): Promise<SizedChange[]> {
  const removals: SizedChange[][] = [];
  for (const each of [reader, ownReader(stores, own)]) {
    try {
      for (const scope of await each.scopes()) {
        const { files } = await each.survey(scope);
        removals.push(files.map(({ path, bytes }) => ({ kind: "remove", scope, path, bytes })));
      }
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
    }
  }
  return inStore(removals.flat(), own);
}

const waitOf = ({ until, signal }: Turn): Pick<HoldOptions, "until" | "signal"> => ({ until, signal });
