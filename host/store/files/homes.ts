/** Opens homes of one kind under their locks, and remembers what is known of each between two calls. */
import { ToolError } from "../../values/tool-error.ts";
import { StaleCall } from "../plan-changes.ts";
import type { KnownSizes } from "../scope-size.ts";
import type { StoreSettings } from "../store-settings.ts";
import type { HoldOptions } from "../store.ts";
import type { HeldHistory } from "../versions/held-history.ts";
import type { WalTail } from "./commit/find-records.ts";
import { HeldFileHistory } from "./held-file-history.ts";
import { KeptHistories } from "./history/kept-histories.ts";
import { HomeFolder } from "./home-folder.ts";
import { lockHome } from "./home-lock.ts";
import type { HomeSession } from "./home-session.ts";
import { shownAs } from "./home.ts";
import type { Home } from "./home.ts";
import { KeptSessions, keptLimits } from "./kept-sessions.ts";
import type { KeptLimits } from "./kept-sessions.ts";
import { KeptSizes } from "./kept-sizes.ts";
import { lockFinished } from "./lock-finished.ts";
import type { FinishedHome } from "./lock-finished.ts";
import { mendFiles } from "./mend-files.ts";
import { openSession } from "./open-session.ts";
import type { Waiting } from "./open-session.ts";
import { retireHomeNow } from "./retire-home-now.ts";
import { RetireSchedule } from "./retire-schedule.ts";
import { HomeMemo } from "./session-setup.ts";

export interface HomesSetup<Id> {
  readonly homeOf: (id: Id) => Home;
  readonly isFlushed: boolean;
  /** The machine's boot id. */
  readonly boot: string | null;
  readonly note: (id: Id, text: string) => void;
  /** How sessions are kept for another call. */
  readonly kept?: KeptLimits;
  readonly settings: StoreSettings;
}

export class Homes<Id extends string> {
  readonly #setup: HomesSetup<Id>;
  readonly #memos = new Map<Id, HomeMemo>();
  readonly #schedule: RetireSchedule<Id>;
  readonly #kept: KeptSessions<Id>;
  readonly #histories = new KeptHistories<Id>();
  readonly sizes = new KeptSizes<Id>();

  constructor(setup: HomesSetup<Id>) {
    this.#setup = setup;
    this.#kept = new KeptSessions(setup.kept ?? keptLimits, (id) => this.#remember(id));
    this.#schedule = new RetireSchedule({
      retire: (id, waitMs) => this.#retireIdle(id, waitMs),
      retireNow: (id) => this.#retireNow(id),
      note: setup.note,
    });
  }

  homeOf(id: Id): Home {
    return this.#setup.homeOf(id);
  }

  /** The WAL as this process has left it; `null` if it has to be read. */
  tailOf(id: Id): WalTail | null {
    return this.#memos.get(id)?.tail ?? null;
  }

  /** The history of a home that is held; `tail`: its WAL's, if it is read without a session and that is known. */
  heldHistory(id: Id, session: () => HomeSession | null, tail: WalTail | null): HeldHistory {
    return new HeldFileHistory({ home: this.homeOf(id), session, tail, kept: this.#histories.ofHome(id) });
  }

  /** What need not be measured of a home that is open. */
  knownSizes(id: Id, session: HomeSession | null): KnownSizes {
    return this.sizes.of(id, session?.tail ?? null) ?? session?.storedSizes() ?? {};
  }

  /** Forgets what is remembered about a home, so that it is checked again. */
  forget(id: Id): void {
    this.#kept.drop(id);
    Object.assign(this.#memoOf(id), { tail: null, ownedIdentity: null });
    this.#histories.forget(id);
    this.sizes.forget(id);
  }

  /** Forgets a home that is no more. */
  drop(id: Id): void {
    this.#kept.drop(id);
    this.#memos.delete(id);
    this.#schedule.drop(id);
    this.#histories.forget(id);
    this.sizes.forget(id);
  }

  /** Takes the lock and changes nothing. A home that cannot be used as it is needs none. */
  async lockOnly(id: Id, waiting: Waiting): Promise<Disposable | null> {
    this.#kept.drop(id);
    const home = this.homeOf(id);
    try {
      using folder = HomeFolder.open(home);
      const own = folder?.openOwn() ?? null;
      return own && (await lockHome(own, { ...waiting, shown: shownAs[home.kind], readOnlyWillDo: true }));
    } catch (error) {
      if (error instanceof ToolError && error.code === "STORAGE_UNSAFE") return null;
      throw error;
    }
  }

  /** Takes the lock to read, as `lockFinished`. */
  lockFinished(id: Id, waiting: Waiting): Promise<FinishedHome | null> {
    this.#kept.drop(id);
    return lockFinished(this.homeOf(id), waiting, this.#setup.boot);
  }

  /**
   * Takes the lock and opens the WAL, and so changes nothing that a crash has left; `null` if there is nothing to lock,
   * or the disk is read-only.
   */
  async lock(id: Id, waiting: Waiting, { isThorough = false } = {}): Promise<HomeSession | null> {
    this.#kept.drop(id);
    const home = this.homeOf(id);
    if (isThorough) await mendFiles(home, waiting);
    const { isFlushed, boot, settings } = this.#setup;
    const note = (text: string): void => this.#setup.note(id, text);
    const known = { home, isThorough, isFlushed, boot, note, settings, histories: this.#histories.ofHome(id) };
    return await openSession(() => ({ ...known, memo: this.#memoOf(id) }), waiting);
  }

  /** As `lock`, and finishes what a crash has left. */
  async open(id: Id, waiting: Waiting, isThorough = false): Promise<HomeSession | null> {
    const session = await this.lock(id, waiting, { isThorough });
    if (session !== null) await orDispose(session, () => session.recover());
    await session?.history.load();
    return session;
  }

  /** As `open`, but takes the session that an earlier call has left, if there is one. */
  async resume(id: Id, waiting: Waiting, isThorough = false): Promise<HomeSession | null> {
    return (isThorough ? null : this.#kept.take(id)) ?? (await this.open(id, waiting, isThorough));
  }

  /** Creates the folder for a home's first commit. Throws `StaleCall` if someone else was faster. */
  async openFirst(id: Id, { until, signal }: Pick<HoldOptions, "until" | "signal">): Promise<HomeSession> {
    await HomeFolder.make(this.homeOf(id));
    const session = await this.lock(id, { make: true, readOnlyWillDo: false, until, signal });
    if (session === null || session.isSetUp) {
      session?.[Symbol.dispose]();
      throw new StaleCall();
    }
    await orDispose(session, () => session.recover());
    return session;
  }

  /** Releases the lock of a home that was only read. */
  releaseUnchanged(id: Id, session: HomeSession): void {
    session[Symbol.dispose]();
    this.#remember(id);
  }

  /** Notes that a home has got a commit. */
  noteUse(id: Id): void {
    this.#schedule.noteUse(id);
  }

  /** Releases the lock a little later, so that the next call can resume the session. */
  releaseLater(id: Id, session: HomeSession): void {
    if (session.isRetireDue) return this.release(id, session);
    // A program that ends before the session does still has to retire what this one has recovered.
    if (this.#memoOf(id).hasRecords) this.#schedule.add(id);
    this.#kept.keep(id, session);
  }

  /** Releases the lock. Retires a long WAL first, in the background. */
  release(id: Id, session: HomeSession): void {
    if (session.isRetireDue) return this.#schedule.run(id, () => this.#retireAndDispose(id, session, false));
    this.releaseUnchanged(id, session);
  }

  /** Remembers a home only as long as its WAL has records. */
  #remember(id: Id): void {
    if (this.#memoOf(id).hasRecords) this.#schedule.add(id);
    else if (!this.#memoOf(id).isBroken) this.#memos.delete(id);
  }

  async close(): Promise<void> {
    this.#kept.dropAll();
    await this.#schedule.close();
  }

  /** Retires the WAL, and then releases the lock. */
  async retireAndRelease(id: Id, session: HomeSession): Promise<void> {
    await this.#retireAndDispose(id, session, true);
    this.#remember(id);
  }

  async #retireIdle(id: Id, waitMs: number): Promise<void> {
    const waiting = { make: false, readOnlyWillDo: false, until: performance.now() + waitMs };
    try {
      using session = await this.lock(id, waiting);
      if (session?.wal) {
        await session.recover();
        await session.history.load();
        await this.#retire(id, session, true);
      }
    } catch (error) {
      if (!(error instanceof ToolError) || error.code !== "BUSY") throw error;
      // The process that holds the lock will probably retire the WAL. If not, it is tried again.
      return this.#schedule.add(id);
    }
    if (!this.#memoOf(id).isBroken) this.#memos.delete(id);
  }

  #retireNow(id: Id): void {
    this.#kept.drop(id);
    const sizesOf = (tail: WalTail): KnownSizes => this.sizes.of(id, tail) ?? {};
    retireHomeNow(this.homeOf(id), { memo: this.#memoOf(id), boot: this.#setup.boot, sizesOf });
  }

  async #retireAndDispose(id: Id, session: HomeSession, isIdle: boolean): Promise<void> {
    try {
      await this.#retire(id, session, isIdle);
    } finally {
      session[Symbol.dispose]();
    }
  }

  async #retire(id: Id, session: HomeSession, isIdle: boolean): Promise<void> {
    const before = session.tail;
    await session.retire(isIdle);
    this.sizes.follow(id, before, session.tail);
    session.storeSizes(this.sizes.of(id, session.tail) ?? {});
  }

  #memoOf(id: Id): HomeMemo {
    const memo = this.#memos.get(id) ?? new HomeMemo(this.homeOf(id).kind);
    this.#memos.set(id, memo);
    return memo;
  }
}

async function orDispose(session: HomeSession, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    session[Symbol.dispose]();
    throw error;
  }
}
