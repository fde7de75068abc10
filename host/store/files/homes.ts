/** Opens homes under their locks, and remembers what is known of each between two calls. */
import { storeLimits } from "../../../shared/limits.ts";
import { isForbidden } from "../../disk/disk-failure.ts";
import { ToolError } from "../../values/tool-error.ts";
import { atOnce } from "../../values/turns.ts";
import { StaleCall } from "../plan-changes.ts";
import type { KnownSizes, ScopeSize } from "../reading.ts";
import type { HeldHistory } from "../versions/present-origins.ts";
import { readLine } from "../versions/version.ts";
import { inFlushesNow } from "./commit/flushing.ts";
import { retireWal } from "./commit/retire.ts";
import { isSameTail, needsRecovery } from "./commit/wal-format.ts";
import type { WalTail } from "./commit/wal-format.ts";
import { Wal } from "./commit/wal.ts";
import { isMarked, settleMark } from "./erase-mark.ts";
import { HeldFileHistory, KeptHistories } from "./held-file-history.ts";
import { ContentBases, versionsInRecords } from "./history/content-line.ts";
import { moveVersions } from "./history/move-versions.ts";
import type { HomeSession } from "./home-session.ts";
import type { FileHome } from "./home.ts";
import { KeptSessions, RetireSchedule, keptLimits } from "./idle-homes.ts";
import type { KeptLimits } from "./idle-homes.ts";
import { mendFiles } from "./mend-files.ts";
import { lockFinished, openSession } from "./open-session.ts";
import type { FinishedHome } from "./open-session.ts";
import { HomeFolder, ScopeFolders } from "./scope-folders.ts";
import { HomeMemo, lockHome, lockNow } from "./session-place.ts";
import type { SessionSetup, Waiting } from "./session-place.ts";
import { readSizes, writeSizes } from "./stored-sizes.ts";

interface HomesSetup extends Pick<SessionSetup, "isFlushed" | "boot" | "settings"> {
  readonly note: (home: FileHome, text: string) => void;
  /** How sessions are kept for another call. */
  readonly kept?: KeptLimits | undefined;
}

/** The sizes of a home's scopes. They count as long as its WAL is as it was. */
interface KeptSizes {
  readonly tail: WalTail;
  readonly sizes: KnownSizes;
  readonly measuredAt: number;
}

/** How often somebody can erase a user before whoever opens the home gives up. */
const attemptsMax = 20;

export class Homes {
  readonly #setup: HomesSetup;
  readonly #memos = new Map<string, HomeMemo>();
  readonly #schedule: RetireSchedule;
  readonly #kept: KeptSessions;
  readonly #histories = new KeptHistories();
  readonly #sizes = new Map<string, KeptSizes>();

  constructor(setup: HomesSetup) {
    this.#setup = setup;
    this.#kept = new KeptSessions(setup.kept ?? keptLimits, ({ home, memo }) => this.#remember(home, memo));
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

  /** Forgets what is remembered about a home, so that it is checked again. */
  forget(home: FileHome): void {
    this.#kept.drop(home);
    const memo = this.#memos.get(home.key);
    if (memo !== undefined) Object.assign(memo, { tail: null, ownedIdentity: null });
    this.#histories.forget(home);
    this.#sizes.delete(home.key);
  }

  /** Forgets a home that is no more. */
  drop(home: FileHome): void {
    this.forget(home);
    this.#memos.delete(home.key);
    this.#schedule.drop(home);
  }

  /** Takes the lock and changes nothing. A home that cannot be used as it is needs none. */
  async lockOnly(home: FileHome, waiting: Waiting): Promise<Disposable | null> {
    this.#kept.drop(home);
    try {
      using folder = HomeFolder.open(home);
      const own = folder?.openOwn() ?? null;
      return own && (await lockHome(own, home, { ...waiting, readOnlyWillDo: true }));
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
   * if there is nothing to lock, or the disk is read-only. If the folder was moved away before the lock was there, because
   * the user was erased, tries again with what is in its place.
   */
  async lock(home: FileHome, waiting: Waiting, isThorough = false): Promise<HomeSession | null> {
    const { isFlushed, boot, settings } = this.#setup;
    const note = (text: string): void => this.#setup.note(home, text);
    for (let attempt = 1; ; attempt++) {
      this.#kept.drop(home);
      if (isThorough) await mendFiles(home, waiting);
      const known = { home, memo: this.#memoOf(home), isThorough, isFlushed, boot, note };
      const setup = { ...known, settings, histories: this.#histories };
      const session = await openSession(setup, waiting, attempt >= attemptsMax);
      if (session === "moved") continue;
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
    {
      using folder = await HomeFolder.make(home);
      folder.makeOwn();
    }
    const session = await this.lock(home, { ...waiting, make: true, readOnlyWillDo: false });
    if (session === null || session.isSetUp) {
      session?.[Symbol.dispose]();
      throw new StaleCall();
    }
    await orDispose(session, () => session.recover());
    return session;
  }

  /** What need not be measured of a home that is open. */
  knownSizes({ home, tail, place }: HomeSession): KnownSizes {
    if (tail === null) return {};
    const kept = this.#sizes.get(home.key);
    if (kept === undefined || !isSameTail(kept.tail, tail)) {
      const sizes = readSizes(place.own, tail);
      this.#keepSizes(home, { tail, sizes, measuredAt: performance.now() });
      return sizes;
    }
    return performance.now() - kept.measuredAt > ageMsMax ? mapSizes(kept.sizes, trashOnly) : kept.sizes;
  }

  /** Notes a commit, and the sizes after it. `known`: those that the commit's call was given. */
  noteCommit({ home, tail, place }: HomeSession, sizes: KnownSizes, known: KnownSizes, isPurge: boolean): void {
    this.#schedule.noteUse(home);
    const kept = this.#sizes.get(home.key);
    this.#sizes.delete(home.key);
    if (tail === null) return;
    if (isPurge) writeSizes(place.own, tail, sizes);
    const next = mapSizes(sizes, (size) => (isFull(size) ? trashOnly(size) : size));
    // If one of them was known, all are as old as that one.
    const isOld = kept !== undefined && Object.keys(next).some((scope) => next[scope]?.live && known[scope]?.live);
    this.#keepSizes(home, { tail, sizes: next, measuredAt: isOld ? kept.measuredAt : performance.now() });
  }

  #keepSizes({ key }: FileHome, kept: KeptSizes): void {
    this.#sizes.set(key, kept);
    const [oldest] = this.#sizes.keys();
    if (this.#sizes.size > sizesMax && oldest !== undefined) this.#sizes.delete(oldest);
  }

  /** Releases the lock of a home that was only read. */
  releaseUnchanged(session: HomeSession): void {
    session[Symbol.dispose]();
    this.#remember(session.home, session.memo);
  }

  /** Releases the lock: with `isKept` a little later, so that the next call can resume the session. */
  release(session: HomeSession, isKept = false): void {
    const { home, memo } = session;
    if (session.isRetireDue) return this.#schedule.run(home, () => this.#retireAndDispose(session));
    if (!isKept) return this.releaseUnchanged(session);
    // A program that ends before the session does still has to retire what this one has recovered.
    if (memo.hasRecords) this.#schedule.add(home);
    this.#kept.keep(session);
  }

  /** Remembers a home only as long as its WAL has records. */
  #remember(home: FileHome, memo: HomeMemo): void {
    if (memo.hasRecords) this.#schedule.add(home);
    else if (!memo.isBroken) this.#memos.delete(home.key);
  }

  async close(): Promise<void> {
    this.#kept.dropAll();
    await this.#schedule.close();
  }

  /** Finishes and retires a home's WAL. Throws `BUSY` if somebody holds the home for too long. */
  async retire(home: FileHome, waiting: Waiting): Promise<void> {
    using session = await this.lock(home, waiting);
    if (session?.wal) {
      await session.recover();
      await session.history.load();
      await this.#retire(session, true);
    }
    if (!this.#memoOf(home).isBroken) this.#memos.delete(home.key);
  }

  async #retireIdle(home: FileHome, waitMs: number): Promise<void> {
    try {
      await this.retire(home, { make: false, readOnlyWillDo: false, until: performance.now() + waitMs });
    } catch (error) {
      if (!(error instanceof ToolError) || error.code !== "BUSY") throw error;
      // The process that holds the lock will probably retire the WAL. If not, it is tried again.
      this.#schedule.add(home);
    }
  }

  async #retireAndDispose(session: HomeSession): Promise<void> {
    try {
      await this.#retire(session, false);
    } finally {
      session[Symbol.dispose]();
    }
  }

  async #retire(session: HomeSession, isIdle: boolean): Promise<void> {
    const { home, tail: before } = session;
    await session.retire(isIdle);
    const { tail, place } = session;
    const kept = this.#sizes.get(home.key);
    if (kept === undefined || before === null || tail === null || !isSameTail(kept.tail, before)) return;
    // No file has changed.
    this.#sizes.set(home.key, { ...kept, tail });
    writeSizes(place.own, tail, kept.sizes);
  }

  /** Retires a home at the end of the process. What cannot be retired at once is left to the next start. */
  #retireNow(home: FileHome): void {
    this.#kept.drop(home);
    const memo = this.#memoOf(home);
    using folder = HomeFolder.open(home);
    const own = folder?.openOwn() ?? null;
    using lock = own && lockNow(own);
    using wal = own && lock && Wal.open(own, home, { known: memo.tail });
    if (!folder || !own || !wal || needsRecovery(wal, this.#setup.boot) || wal.isOfEarlierVersion) return;
    using folders = new ScopeFolders(folder.home, { kind: home.kind, folds: memo.foldsOf(folder.home) });
    const kept = this.#sizes.get(home.key);
    const sizes = kept !== undefined && isSameTail(kept.tail, wal.tail) ? kept.sizes : {};
    const added = atOnce(versionsInRecords(wal.records));
    const versions = wal.isContinued ? [...memo.versions, ...added] : added;
    if (versions.length > 0) inFlushesNow(moveVersions(own, versions, new ContentBases()));
    const last = readLine(versions.at(-1)?.line ?? "");
    if (last !== null) wal.history = { mark: "none", ...wal.history, head: last.head };
    const touched = [...memo.touched.values(), ...wal.records.flatMap(({ files }) => files)];
    inFlushesNow(retireWal({ folders, wal }, touched));
    wal.shrink();
    writeSizes(own, wal.tail, sizes);
  }

  #memoOf({ key }: FileHome): HomeMemo {
    const memo = this.#memos.get(key) ?? new HomeMemo();
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

/** Of how many homes sizes are kept: to measure a scope is to look at each of its files. */
const sizesMax = 1_024;
/**
 * How long a live size is used. A file that a person has made larger by hand is noticed after this at the latest, or at
 * once if the scope is more than half full. The size of a trash does not age: the trash can have many more files. Before a
 * call is refused because of it, it is measured again, so it does no harm if a person has emptied the trash by hand.
 */
const ageMsMax = 60_000;

const mapSizes = (sizes: KnownSizes, change: (size: Partial<ScopeSize>) => Partial<ScopeSize>): KnownSizes =>
  Object.fromEntries(Object.entries(sizes).map(([scope, size]) => [scope, change(size)]));

const trashOnly = ({ trash }: Partial<ScopeSize>): Partial<ScopeSize> => (trash ? { trash } : {});

const isFull = ({ live, trash }: Partial<ScopeSize>): boolean =>
  (live?.bytes ?? 0) + (trash?.bytes ?? 0) > storeLimits.scopeBytesMax / 2;
