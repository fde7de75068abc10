/** Opens homes under their locks, and remembers what is known of each between two calls. */
import { isForbidden } from "../../disk/disk-failure.ts";
import { ToolError } from "../../values/tool-error.ts";
import { atOnce } from "../../values/turns.ts";
import { StaleCall } from "../plan-changes.ts";
import type { KnownSizes } from "../scope-size.ts";
import type { StoreSettings } from "../store-settings.ts";
import type { HeldHistory } from "../versions/held-history.ts";
import { headAfter, parseLine } from "../versions/version-line.ts";
import type { WalTail } from "./commit/find-records.ts";
import { needsRecovery } from "./commit/find-records.ts";
import { retireNow } from "./commit/retire.ts";
import { Wal } from "./commit/wal.ts";
import { isMarked, settleMark } from "./erase-mark.ts";
import { HeldFileHistory } from "./held-file-history.ts";
import { ContentBases } from "./history/content-bases.ts";
import { KeptHistories } from "./history/kept-histories.ts";
import { moveVersionsNow } from "./history/move-versions.ts";
import { versionsInRecords } from "./history/queued-versions.ts";
import { HomeFolder } from "./home-folder.ts";
import { lockHome, lockNow } from "./home-lock.ts";
import type { HomeSession } from "./home-session.ts";
import { shownAs } from "./home.ts";
import type { FileHome } from "./home.ts";
import { KeptSessions, keptLimits } from "./kept-sessions.ts";
import type { KeptLimits } from "./kept-sessions.ts";
import { mendFiles } from "./mend-files.ts";
import { lockFinished, openSession } from "./open-session.ts";
import type { FinishedHome, Waiting } from "./open-session.ts";
import { RetireSchedule } from "./retire-schedule.ts";
import { ScopeFolders } from "./scope-folders.ts";
import { HomeMemo } from "./session-setup.ts";
import { KeptSizes, writeSizes } from "./stored-sizes.ts";

interface HomesSetup {
  readonly isFlushed: boolean;
  /** The machine's boot id. */
  readonly boot: string | null;
  readonly note: (home: FileHome, text: string) => void;
  /** How sessions are kept for another call. */
  readonly kept?: KeptLimits | undefined;
  readonly settings: StoreSettings;
}

export class Homes {
  readonly #setup: HomesSetup;
  readonly #memos = new Map<string, HomeMemo>();
  readonly #schedule: RetireSchedule;
  readonly #kept: KeptSessions;
  readonly #histories = new KeptHistories();
  readonly sizes = new KeptSizes();

  constructor(setup: HomesSetup) {
    this.#setup = setup;
    this.#kept = new KeptSessions(setup.kept ?? keptLimits, (home) => this.#remember(home));
    this.#schedule = new RetireSchedule({
      retire: (home, waitMs) => this.#retireIdle(home, waitMs),
      retireNow: (home) => this.#retireNow(home),
      note: setup.note,
    });
  }

  get boot(): string | null {
    return this.#setup.boot;
  }

  /** The WAL as this process has left it; `null` if it has to be read. */
  tailOf({ key }: FileHome): WalTail | null {
    return this.#memos.get(key)?.tail ?? null;
  }

  /** The history of a home that is held; `tail`: its WAL's, if it is read without a session and that is known. */
  heldHistory(home: FileHome, session: () => HomeSession | null, tail: WalTail | null): HeldHistory {
    return new HeldFileHistory({ home, session, tail, kept: this.#histories });
  }

  /** What need not be measured of a home that is open. */
  knownSizes(home: FileHome, session: HomeSession | null): KnownSizes {
    return this.sizes.of(home, session?.tail ?? null) ?? session?.storedSizes() ?? {};
  }

  /** Forgets what is remembered about a home, so that it is checked again. */
  forget(home: FileHome): void {
    this.#kept.drop(home);
    Object.assign(this.#memoOf(home), { tail: null, ownedIdentity: null });
    this.#histories.forget(home);
    this.sizes.forget(home);
  }

  /** Forgets a home that is no more. */
  drop(home: FileHome): void {
    this.#kept.drop(home);
    this.#memos.delete(home.key);
    this.#schedule.drop(home);
    this.#histories.forget(home);
    this.sizes.forget(home);
  }

  /** Takes the lock and changes nothing. A home that cannot be used as it is needs none. */
  async lockOnly(home: FileHome, waiting: Waiting): Promise<Disposable | null> {
    this.#kept.drop(home);
    try {
      using folder = HomeFolder.open(home);
      const own = folder?.openOwn() ?? null;
      return own && (await lockHome(own, { ...waiting, shown: shownAs[home.kind], readOnlyWillDo: true }));
    } catch (error) {
      if (error instanceof ToolError && (error.code === "STORAGE_UNSAFE" || isForbidden(error))) return null;
      throw error;
    }
  }

  /** Takes the lock to read, as `lockFinished`. */
  lockFinished(home: FileHome, waiting: Waiting): Promise<FinishedHome | null> {
    this.#kept.drop(home);
    return lockFinished(home, waiting, this.#setup.boot);
  }

  /**
   * Takes the lock and opens the WAL, and so changes nothing that a crash has left, but for the erasure of a store; `null`
   * if there is nothing to lock, or the disk is read-only.
   */
  async lock(home: FileHome, waiting: Waiting, isThorough = false): Promise<HomeSession | null> {
    const { isFlushed, boot, settings } = this.#setup;
    const note = (text: string): void => this.#setup.note(home, text);
    const known = { home, isThorough, isFlushed, boot, note, settings, histories: this.#histories };
    for (;;) {
      this.#kept.drop(home);
      if (isThorough) await mendFiles(home, waiting);
      const session = await openSession(() => ({ ...known, memo: this.#memoOf(home) }), waiting);
      if (session === null || !(await orDispose(session, () => isErased(session)))) return session;
      session[Symbol.dispose]();
      this.drop(home);
    }
  }

  /** As `lock`, and finishes what a crash has left. */
  async open(home: FileHome, waiting: Waiting, isThorough = false): Promise<HomeSession | null> {
    const session = await this.lock(home, waiting, isThorough);
    if (session !== null) await orDispose(session, () => session.recover());
    // A call can hold many stores, and needs the histories of few.
    if (home.kind !== "store") await session?.history.load();
    return session;
  }

  /** As `open`, but takes the session that an earlier call has left, if there is one. */
  async resume(home: FileHome, waiting: Waiting, isThorough = false): Promise<HomeSession | null> {
    return (isThorough ? null : this.#kept.take(home)) ?? (await this.open(home, waiting, isThorough));
  }

  /** Creates the folder for a home's first commit. Throws `StaleCall` if someone else was faster. */
  async openFirst(home: FileHome, waiting: Pick<Waiting, "until" | "signal">): Promise<HomeSession> {
    await HomeFolder.make(home);
    const session = await this.lock(home, { ...waiting, make: true, readOnlyWillDo: false });
    if (session === null || session.isSetUp) {
      session?.[Symbol.dispose]();
      throw new StaleCall();
    }
    await orDispose(session, () => session.recover());
    return session;
  }

  /** Releases the lock of a home that was only read. */
  releaseUnchanged(session: HomeSession): void {
    session[Symbol.dispose]();
    this.#remember(session.home);
  }

  /** Notes that a home has got a commit. */
  noteUse(home: FileHome): void {
    this.#schedule.noteUse(home);
  }

  /** Releases the lock a little later, so that the next call can resume the session. */
  releaseLater(session: HomeSession): void {
    if (session.isRetireDue) return this.release(session);
    // A program that ends before the session does still has to retire what this one has recovered.
    if (this.#memoOf(session.home).hasRecords) this.#schedule.add(session.home);
    this.#kept.keep(session);
  }

  /** Releases the lock. Retires a long WAL first, in the background. */
  release(session: HomeSession): void {
    if (session.isRetireDue) this.#schedule.run(session.home, () => this.#retireAndDispose(session, false));
    else this.releaseUnchanged(session);
  }

  /** Remembers a home only as long as its WAL has records. */
  #remember(home: FileHome): void {
    if (this.#memoOf(home).hasRecords) this.#schedule.add(home);
    else if (!this.#memoOf(home).isBroken) this.#memos.delete(home.key);
  }

  async close(): Promise<void> {
    this.#kept.dropAll();
    await this.#schedule.close();
  }

  /** Retires the WAL, and then releases the lock. */
  async retireAndRelease(session: HomeSession): Promise<void> {
    await this.#retireAndDispose(session, true);
    this.#remember(session.home);
  }

  async #retireIdle(home: FileHome, waitMs: number): Promise<void> {
    const waiting = { make: false, readOnlyWillDo: false, until: performance.now() + waitMs };
    try {
      using session = await this.lock(home, waiting);
      if (session?.wal) {
        await session.recover();
        await session.history.load();
        await this.#retire(session, true);
      }
    } catch (error) {
      if (!(error instanceof ToolError) || error.code !== "BUSY") throw error;
      // The process that holds the lock will probably retire the WAL. If not, it is tried again.
      return this.#schedule.add(home);
    }
    if (!this.#memoOf(home).isBroken) this.#memos.delete(home.key);
  }

  #retireNow(home: FileHome): void {
    this.#kept.drop(home);
    const sizesOf = (tail: WalTail): KnownSizes => this.sizes.of(home, tail) ?? {};
    retireHomeNow(home, { memo: this.#memoOf(home), boot: this.#setup.boot, sizesOf });
  }

  async #retireAndDispose(session: HomeSession, isIdle: boolean): Promise<void> {
    try {
      await this.#retire(session, isIdle);
    } finally {
      session[Symbol.dispose]();
    }
  }

  async #retire(session: HomeSession, isIdle: boolean): Promise<void> {
    const before = session.tail;
    await session.retire(isIdle);
    this.sizes.follow(session.home, before, session.tail);
    session.storeSizes(this.sizes.of(session.home, session.tail) ?? {});
  }

  #memoOf({ key, kind }: FileHome): HomeMemo {
    const memo = this.#memos.get(key) ?? new HomeMemo(kind);
    this.#memos.set(key, memo);
    return memo;
  }
}

/** Whether a store was locked that has just been erased, because its owner was. */
async function isErased({ home, place }: HomeSession): Promise<boolean> {
  return home.kind === "store" && isMarked(place.own) && (await settleMark(home, place.folder));
}

async function orDispose<Result>(session: HomeSession, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    session[Symbol.dispose]();
    throw error;
  }
}

interface RetiringNow {
  readonly memo: HomeMemo;
  readonly boot: string | null;
  readonly sizesOf: (tail: WalTail) => KnownSizes;
}

/** Retires a home at the end of the process. What cannot be retired at once is left to the next start. */
function retireHomeNow(home: FileHome, { memo, boot, sizesOf }: RetiringNow): void {
  using folder = HomeFolder.open(home);
  const own = folder?.openOwn() ?? null;
  using lock = own && lockNow(own);
  using wal = own && lock && Wal.open(own, home, { known: memo.tail });
  if (!folder || !own || !wal || needsRecovery(wal, boot) || wal.isOfEarlierVersion) return;
  using folders = new ScopeFolders(folder.home, { kind: home.kind, folds: memo.foldsOf(folder.home) });
  const sizes = sizesOf(wal.tail);
  const added = atOnce(versionsInRecords(wal.records, new ContentBases()));
  const versions = wal.isContinued ? [...memo.versions, ...added] : added;
  if (versions.length > 0) moveVersionsNow(own, versions);
  const line = versions.at(-1)?.lines.at(-1) ?? "";
  const last = parseLine(line);
  if (last !== null) wal.history = { mark: "none", ...wal.history, head: headAfter(last, line) };
  retireNow({ folders, wal }, [...memo.touched.values(), ...wal.records.flatMap(({ files }) => files)]);
  wal.shrink();
  writeSizes(own, wal.tail, sizes);
}
