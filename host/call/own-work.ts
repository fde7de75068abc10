/** The host's own work on a user's files and stores: in the user's turn, under the locks, on record. */
import type { CallRecord } from "../audit/collect/call-record.ts";
import type { ErasedFacts, UpkeepRecord } from "../audit/collect/upkeep-record.ts";
import { causeLines } from "../log/failure-line.ts";
import type { LogEntry, LogLine, LogSource } from "../log/log-entry.ts";
import { writeLog } from "../log/write-log.ts";
import type { ChangedGrants } from "../sharing/changed-grants.ts";
import type { ErasedUser } from "../store/engine.ts";
import type { HeldHome, HeldHomes } from "../store/held-homes.ts";
import type { Home, HoldOptions, Mode } from "../store/home.ts";
import type { Store } from "../store/store.ts";
import type { SizedChange } from "../values/change-set.ts";
import { inStore } from "../values/store-id.ts";
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

  /** Works on homes, in the user's turn. */
  hold<Result>(
    asked: HostWork,
    { homes, mode, ...options }: AskedHold,
    work: (held: HeldHomes, turn: Turn) => Promise<Result>,
  ): Promise<Result> {
    return this.#inTurn(asked, (turn, begin) => {
      const { until, signal } = turn;
      return this.#parts.store.hold(homes, mode, { ...options, until, signal }, (held) =>
        begin(() => work(held, turn)),
      );
    });
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
    { changes, ...more }: PreparedChanges,
    held: HeldHome,
    record: CallRecord | UpkeepRecord,
  ): Promise<void> {
    if (changes.length === 0) return;
    const { home } = held;
    const named = home.kind === "store" ? inStore(changes, home.id) : changes;
    // The record is made in one piece, which counts in a turn that has begun.
    await giveTurn();
    record.staged(named);
    await held.commit({ ...more, changes, by: record.source.userId as UserId });
    record.committed();
    record.versioned([{ store: home.kind === "store" ? home.id : null, ...held.history.filesHead }]);
    this.tellLater(named, record);
  }

  /** Records new grants of a user's own store, then commits them. */
  async commitGrants(
    { stored, changes }: ChangedGrants,
    { held, userId }: { readonly held: HeldHome; readonly userId: UserId },
    record: UpkeepRecord,
  ): Promise<void> {
    record.staged([], changes);
    await held.commit({ by: userId, changes: [], seen: [], grants: stored });
    record.committed();
  }

  /** Records what is erased, erases it, notifies listeners. What cannot be recorded is not erased. */
  async erase(held: HeldHomes, { homes, erasedMs, ...facts }: Erasing, record: UpkeepRecord): Promise<ErasedUser> {
    const removed: SizedChange[] = [];
    if (this.#parts.listeners.isHeard("onChange")) {
      for (const home of homes) removed.push(...(await removalsOf(held.of(home))));
    }
    record.erasing(facts);
    const erased = await held.erase(erasedMs);
    record.committed();
    this.tellLater(removed, record);
    return erased;
  }

  /** The operator is told of a record that could not be removed. */
  noteLeft(error: ToolError, { source }: CallRecord | UpkeepRecord): void {
    this.log(causeLines(error), source);
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

export interface AskedHold extends Pick<HoldOptions, "scopes" | "finishes"> {
  readonly homes: readonly Home[];
  readonly mode: Mode;
}

interface Erasing extends ErasedFacts {
  readonly homes: readonly Home[];
  readonly erasedMs: number;
}

/** The files that are erased, for listeners: nothing that they cannot read keeps anybody from erasing it. */
async function removalsOf({ reader, home }: HeldHome): Promise<SizedChange[]> {
  const removals: SizedChange[][] = [];
  try {
    for (const scope of await reader.scopes()) {
      const { files } = await reader.survey(scope);
      removals.push(files.map(({ path, bytes }) => ({ kind: "remove", scope, path, bytes })));
    }
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
  }
  return home.kind === "store" ? inStore(removals.flat(), home.id) : removals.flat();
}
