/**
 * What becomes of homes between their calls. Some milliseconds their sessions are kept, after seconds their WALs are retired,
 * and what is known of them is remembered.
 */
import { ToolError } from "../../values/tool-error.ts";
import { isSameTail } from "./commit/wal-format.ts";
import type { WalTail } from "./commit/wal-format.ts";
import { settleMark } from "./erase-mark.ts";
import type { HomeSession } from "./home-session.ts";
import type { FileHome } from "./home.ts";
import { retireNow } from "./left-over.ts";
import { mendFiles } from "./mend-files.ts";
import { mendNames } from "./mend-names.ts";
import { lockFinished, openSession, orDispose } from "./open-session.ts";
import type { FinishedHome } from "./open-session.ts";
import { HomeMemo } from "./session-place.ts";
import type { SessionSetup, Waiting } from "./session-place.ts";
import { writeSizes } from "./stored-sizes.ts";

interface HomesSetup extends Pick<SessionSetup, "isFlushed" | "boot" | "settings"> {
  readonly note: (home: FileHome, text: string) => void;
  /** How sessions are kept for another call. */
  readonly kept?: KeptLimits | undefined;
}

/** Of how many homes anything is known: to measure a scope is to look at each of its files. */
const homesMax = 1_024;
/** Of how many of them the history, and of how many files: 0.3 KB for a file, and up to 0.3 MB of a home's contents. */
const [historiesMax, filesMax] = [128, 200_000];
/** So many homes are opened before it is looked whether they are too many. */
const openedAtOnce = 16;
/** How long after a home's last commit the WAL is retired. A crash before that costs a recovery, but no write is lost. */
const idleMs = 2_000;
/** How long closing waits for another process that holds a home. */
const closeWaitMs = 2_000;
/** How many homes' files are flushed at once: each takes descriptors. */
const retiringMax = 4;

/** How often somebody can erase a user before whoever opens the home gives up. */
const attemptsMax = 20;

export class Homes {
  readonly #setup: HomesSetup;
  /** By the keys of homes. The one that was used last comes last. */
  readonly #memos = new Map<string, HomeMemo>();
  #opened = 0;
  readonly #kept: KeptSessions;
  readonly #retiring = new Map<string, Promise<void>>();
  #timer: NodeJS.Timeout | null = null;
  #isClosing = false;

  constructor(setup: HomesSetup) {
    this.#setup = setup;
    this.#kept = new KeptSessions(setup.kept ?? keptLimits, ({ memo }) => this.#remember(memo));
  }

  get boot(): string | null {
    return this.#setup.boot;
  }

  /** What is known of a home. */
  memoOf(home: FileHome): HomeMemo {
    const memo = this.#memos.get(home.key) ?? new HomeMemo(home);
    this.#memos.delete(home.key);
    this.#memos.set(home.key, memo);
    if (this.#opened++ % openedAtOnce === 0) this.#forgetOldest();
    return memo;
  }

  #forgetOldest(): void {
    let [homes, files] = [this.#memos.size, 0];
    for (const memo of this.#memos.values()) files += memo.filesInHistory;
    for (const [key, memo] of this.#memos) {
      if (homes <= historiesMax && files <= filesMax) return;
      files -= memo.filesInHistory;
      memo.forgetHistory();
      if (homes > homesMax && memo.idleSinceMs === null && !memo.isBroken) this.#memos.delete(key);
      homes--;
    }
  }

  get isFlushed(): boolean {
    return this.#setup.isFlushed;
  }

  /** The WAL as this process has left it; `null` if it has to be read. */
  tailOf({ key }: FileHome): WalTail | null {
    return this.#memos.get(key)?.tail ?? null;
  }

  /** Forgets what is remembered about a home, so that it is checked again. */
  forget(home: FileHome): void {
    this.#kept.drop(home);
    const memo = this.#memos.get(home.key);
    memo?.forgetPlace();
    memo?.forgetHistory();
    if (memo !== undefined) memo.sizes = null;
  }

  /** Releases a session of the home that an earlier call has left. */
  letGo(home: FileHome): void {
    this.#kept.drop(home);
  }

  /** Forgets a home that is no more. */
  drop(home: FileHome): void {
    this.letGo(home);
    this.#memos.delete(home.key);
  }

  /** Forgets what is known of another folder of the same home, beside which a person has put this one. */
  dropOther(home: FileHome): void {
    if ((this.#memos.get(home.key)?.home ?? home).names.at(-1) !== home.names.at(-1)) this.drop(home);
  }

  /** Takes the lock to read, as `lockFinished`. */
  lockFinished(home: FileHome, waiting: Waiting): Promise<FinishedHome | null> {
    this.letGo(home);
    return lockFinished(home, waiting, this.#setup.boot);
  }

  /**
   * As `openSession`. If the folder was moved away because the user was erased, tries again with what is in its place. Finishes
   * the erasure of a store, but nothing else that a crash has left.
   */
  async lock(home: FileHome, waiting: Waiting, isThorough = false): Promise<HomeSession | null> {
    const note = (text: string): void => this.#setup.note(home, text);
    for (let attempt = 1; ; attempt++) {
      this.#kept.drop(home);
      if (isThorough) await mendFiles(home, waiting);
      const setup = { ...this.#setup, memo: this.memoOf(home), isThorough, note };
      const session = await openSession(setup, waiting, attempt >= attemptsMax);
      if (session === "moved") continue;
      if (session === null || !(await orDispose(session, () => settleMark(session.place)))) return session;
      session[Symbol.dispose]();
      this.drop(home);
    }
  }

  /** As `lock`, and finishes what a crash has left. */
  async open(home: FileHome, waiting: Waiting, isThorough = false): Promise<HomeSession | null> {
    const session = await this.lock(home, waiting, isThorough);
    if (session !== null) await orDispose(session, () => session.recover());
    // Not before: what a crash has left is finished by the names that were there.
    if (session !== null && isThorough) await orDispose(session, () => mendNames(home, session.place.folder.home));
    // A call can hold many stores, and needs the histories of few.
    if (home.kind !== "store") await session?.history.load();
    return session;
  }

  /** As `open`, but takes the session that an earlier call has left, if there is one. */
  async resume(home: FileHome, waiting: Waiting, isThorough = false): Promise<HomeSession | null> {
    return (isThorough ? null : this.#kept.take(home)) ?? (await this.open(home, waiting, isThorough));
  }

  /** Notes that a home has got a commit. */
  noteCommit({ memo }: HomeSession): void {
    this.#memos.delete(memo.home.key);
    memo.idleSinceMs = null;
    this.#toRetire(memo);
  }

  /** Notes that a home has records, perhaps from another process. A read does not delay the retirement. */
  #toRetire(memo: HomeMemo): void {
    this.#memos.set(memo.home.key, memo);
    memo.idleSinceMs ??= performance.now();
    if (atExit.size === 0) process.on("exit", retireAll);
    atExit.add(this);
    if (this.#timer === null) this.#arm(idleMs);
  }

  /** Releases the lock of a home that was only read. */
  releaseUnchanged(session: HomeSession): void {
    session[Symbol.dispose]();
    this.#remember(session.memo);
  }

  /** Releases the lock: with `isKept` a little later, so that the next call can resume the session. */
  release(session: HomeSession, isKept = false): void {
    const { memo } = session;
    if (session.isRetireDue)
      return this.#run(memo, () => retireSession(session, false).finally(() => session[Symbol.dispose]()));
    if (!isKept) return this.releaseUnchanged(session);
    // A program that ends before the session does still has to retire what this one has recovered.
    if (memo.hasRecords) this.#toRetire(memo);
    this.#kept.keep(session);
  }

  #remember(memo: HomeMemo): void {
    if (memo.hasRecords) this.#toRetire(memo);
    else if (!memo.isBroken) memo.forgetPlace();
  }

  async close(): Promise<void> {
    this.#kept.dropAll();
    this.#isClosing = true;
    if (this.#timer) clearTimeout(this.#timer);
    await Promise.all(this.#retiring.values());
    const idle = [...this.#memos.values()].filter(({ idleSinceMs }) => idleSinceMs !== null);
    for (const memo of idle) {
      memo.idleSinceMs = null;
      this.#run(memo, () => this.#retireIdle(memo, closeWaitMs));
      await this.#retiring.get(memo.home.key);
    }
    this.#forgetExit();
  }

  /** Finishes and retires a home's WAL. Throws `BUSY` if somebody holds the home for too long. */
  async retire(home: FileHome, waiting: Waiting): Promise<void> {
    using session = await this.lock(home, waiting);
    if (session?.place.wal) {
      await session.recover();
      await session.history.load();
      await retireSession(session, true);
    }
    if (session?.memo.isBroken === false) session.memo.forgetPlace();
  }

  async #retireIdle(memo: HomeMemo, waitMs: number): Promise<void> {
    try {
      const until = performance.now() + waitMs;
      await this.retire(memo.home, { make: false, readOnlyWillDo: false, until });
    } catch (error) {
      if (!(error instanceof ToolError) || error.code !== "BUSY") throw error;
      // The process that holds the lock will probably retire the WAL. If not, it is tried again.
      this.#toRetire(memo);
    }
  }

  /** Runs a home's retirement in the background. A failure loses nothing: the WAL stays. */
  #run({ home }: HomeMemo, work: () => Promise<void>): void {
    const running = work()
      .catch((error: unknown) => {
        const why = error instanceof Error ? error.message : "unknown reason";
        this.#setup.note(home, `the WAL could not be retired (${why})`);
      })
      .finally(() => this.#retiring.delete(home.key));
    this.#retiring.set(home.key, running);
  }

  #sweep(): void {
    this.#timer = null;
    const limit = performance.now() - idleMs;
    let isLeft = false;
    for (const memo of this.#memos.values()) {
      if (memo.idleSinceMs === null) continue;
      if (memo.idleSinceMs > limit || this.#retiring.size >= retiringMax) {
        isLeft = true;
        continue;
      }
      memo.idleSinceMs = null;
      // Behind each one there is room for the next.
      if (!this.#retiring.has(memo.home.key))
        this.#run(memo, () => this.#retireIdle(memo, 0).finally(() => this.#arm(0)));
    }
    if (isLeft) this.#arm(idleMs);
    else this.#forgetExit();
  }

  /** The process can end without waiting for this. Whoever uses the home next retires the WAL. */
  #arm(afterMs: number): void {
    if (this.#isClosing) return;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#sweep(), afterMs).unref();
  }

  #forgetExit(): void {
    atExit.delete(this);
    if (atExit.size === 0) process.off("exit", retireAll);
  }

  retireAtExit(untilMs: number): void {
    for (const memo of this.#memos.values()) {
      if (memo.idleSinceMs === null) continue;
      if (performance.now() >= untilMs) return;
      try {
        this.#kept.drop(memo.home);
        retireNow(memo, this.#setup.boot);
      } catch {
        // The WAL stays, and the next start retires it.
      }
    }
  }
}

/** How long the end of a process may be delayed. What is left over is retired at the next start. */
const exitBudgetMs = 2_000;

const atExit = new Set<Homes>();

/**
 * Called when the process ends without closing its stores: by returning, by `process.exit` or by an exception that nobody
 * catches. Then nothing asynchronous runs any more. A signal or a kill ends a process without this.
 */
function retireAll(): void {
  const untilMs = performance.now() + exitBudgetMs;
  for (const homes of atExit) homes.retireAtExit(untilMs);
}

/** Retires the WAL of a session. No file changes, so the sizes of the scopes stay as they are. */
async function retireSession(session: HomeSession, isIdle: boolean): Promise<void> {
  const { memo, place } = session;
  const before = memo.tail;
  await session.retire(isIdle);
  const { sizes, tail } = memo;
  if (sizes === null || before === null || tail === null || !isSameTail(sizes.tail, before)) return;
  memo.sizes = { ...sizes, tail };
  writeSizes(place.own, tail, sizes.known);
}

/** How long sessions are kept for another call. */
export interface KeptLimits {
  /** After a session's last call. */
  readonly idleMs: number;
  /** After its beginning: whoever waits for its lock is not seen if a person has removed the turnstile's file. */
  readonly ageMs: number;
  /** How many are kept at once: each has some six files and folders open. */
  readonly sessionsMax: number;
}

const keptLimits: KeptLimits = { idleMs: 4, ageMs: 50, sessionsMax: 32 };

/**
 * The sessions of homes that were used some milliseconds ago. The next call of the same home needs no walk, no lock and
 * no look at the WAL. A session is released when it was idle for a while, and at once when somebody waits for its lock.
 */
class KeptSessions {
  readonly #limits: KeptLimits;
  readonly #onReleased: (session: HomeSession) => void;
  /** The one that was used last comes last. */
  readonly #kept = new Map<string, { readonly session: HomeSession; readonly sinceMs: number }>();
  #timer: NodeJS.Timeout | null = null;

  /** `onReleased` is called for each session that was not taken. */
  constructor(limits: KeptLimits, onReleased: (session: HomeSession) => void) {
    this.#limits = limits;
    this.#onReleased = onReleased;
  }

  /** Returns a home's session, which the caller then owns; `null` if there is none that can be used. */
  take(home: FileHome): HomeSession | null {
    const session = this.#kept.get(home.key)?.session ?? null;
    if (session !== null && !this.#isUsable(session)) {
      this.drop(home);
      return null;
    }
    this.#kept.delete(home.key);
    return session;
  }

  /** If the disk does not let it be seen, a new walk reports that. */
  #isUsable(session: HomeSession): boolean {
    try {
      return session.ageMs < this.#limits.ageMs && session.place.isStill();
    } catch {
      return false;
    }
  }

  /** Takes over a session whose call has succeeded, or releases it. */
  keep(session: HomeSession): void {
    const { ageMs, sessionsMax } = this.#limits;
    const { home, lock } = session.place;
    this.drop(home);
    this.#kept.set(home.key, { session, sinceMs: performance.now() });
    if (!session.isAtRest || session.ageMs >= ageMs || lock.isWaitedFor()) return this.drop(home);
    session.place.rest();
    const [oldest] = this.#kept.values();
    if (this.#kept.size > sessionsMax && oldest !== undefined) this.drop(oldest.session.place.home);
    this.#arm();
  }

  /** Releases a home's session, if there is one. */
  drop({ key }: FileHome): void {
    const kept = this.#kept.get(key);
    if (kept === undefined) return;
    this.#kept.delete(key);
    kept.session[Symbol.dispose]();
    this.#onReleased(kept.session);
  }

  dropAll(): void {
    for (const { session } of this.#kept.values()) this.drop(session.place.home);
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Releases those that were idle for long enough. */
  #sweep(): void {
    this.#timer = null;
    const limit = performance.now() - this.#limits.idleMs;
    for (const { session, sinceMs } of this.#kept.values()) if (sinceMs <= limit) this.drop(session.place.home);
    this.#arm();
  }

  /** The process can end without waiting for this: the kernel releases the locks. */
  #arm(): void {
    if (this.#kept.size > 0) this.#timer ??= setTimeout(() => this.#sweep(), this.#limits.idleMs).unref();
  }
}
