/**
 * What becomes of homes between their calls. Some milliseconds their sessions are kept, after seconds their journals are settled,
 * and what is known of them is remembered.
 */
import type { Directory } from "../../disk/directory.ts";
import { ToolError } from "../../values/tool-error.ts";
import { flushTouched } from "./commit/flushing.ts";
import { settleMark } from "./erase-mark.ts";
import { HomeMemo } from "./home-memo.ts";
import type { HomeSession } from "./home-session.ts";
import type { FileHome } from "./home.ts";
import { journalLimits } from "./journal/format.ts";
import type { JournalEnd } from "./journal/journal-end.ts";
import { Journal } from "./journal/journal.ts";
import { packSegments } from "./journal/prune.ts";
import { endOf } from "./journal/read-journal.ts";
import type { JournalTail } from "./journal/read-journal.ts";
import { journalFolder } from "./journal/segments.ts";
import { KeptSessions, keptLimits } from "./kept-sessions.ts";
import type { KeptLimits } from "./kept-sessions.ts";
import { retireNow } from "./left-over.ts";
import { mendFiles } from "./mend-files.ts";
import { mendNames } from "./mend-names.ts";
import { lockFinished, openSession, orDispose } from "./open-session.ts";
import type { FinishedHome } from "./open-session.ts";
import { HomeFolder, ScopeFolders } from "./scope-folders.ts";
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
/** How long after a home's last commit its frames are settled. A crash before that costs a recovery, but no write is lost. */
const idleMs = 2_000;
/** So long a segment must be at least to be packed when its home is idle: a packed one takes an eighth. */
const idleBytes = 512 * 1024;
/** How long what is done beside calls waits for them. */
const besideWaitMs = 1_000;
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

  /** The journal as this process has left it; `null` if it has to be read. */
  tailOf({ key }: FileHome): JournalTail | null {
    return this.#memos.get(key)?.tail ?? null;
  }

  /** Forgets what is remembered about a home, so that it is checked again. */
  forget(home: FileHome): void {
    this.#kept.drop(home);
    const memo = this.#memos.get(home.key);
    memo?.forgetPlace();
    memo?.forgetHistory();
    if (memo !== undefined) Object.assign(memo, { tail: null, sizes: null });
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
    const isDue = session.isSettleDue && !this.#retiring.has(memo.home.key);
    if (!isKept) this.releaseUnchanged(session);
    else {
      // A program that ends before the session does still has to settle what this one has recovered.
      if (memo.hasFrames) this.#toRetire(memo);
      this.#kept.keep(session);
    }
    if (isDue) this.#run(memo, () => this.#settleBeside(memo));
  }

  #remember(memo: HomeMemo): void {
    if (memo.hasFrames) this.#toRetire(memo);
    else memo.forgetPlace();
  }

  /**
   * Settles what a home's frames name until now, and packs its long segments, while its calls go on: only to say what was done
   * takes the lock. What others change meanwhile is named by later frames.
   */
  async #settleBeside(memo: HomeMemo): Promise<void> {
    const { home, tail, generation } = memo;
    using folder = HomeFolder.open(home);
    const own = folder?.openOwn() ?? null;
    if (tail === null || folder === null || own === null) return;
    using folders = new ScopeFolders(folder.home, { kind: home.kind, folds: memo.foldsOf(folder.home) });
    const by = { folders, distrust: () => distrustJournal(own, home) };
    await flushTouched(by, [...memo.touched.values()]).catch((error: unknown) => {
      memo.tail = null;
      throw error;
    });
    const beside = { memo, generation };
    const now = await this.#besideCalls(beside, (session) => sayWhatIsSettled(session, endOf(tail)));
    using segments = now && own.openFolder(journalFolder);
    if (now === null || segments === null) return;
    const from = { folder: segments, owner: home.owner, next: now.next, last: now.first };
    const packed = await packSegments(from, now.settled);
    if (packed.length > 0) await this.#besideCalls(beside, (session) => session.settling.tidyUp(packed));
  }

  /** Does work under a home's lock; `null` if calls do not leave it for long, or if somebody else has changed the journal. */
  async #besideCalls<Result>(
    { memo, generation }: Pick<HomeMemo, "generation"> & { readonly memo: HomeMemo },
    work: (session: HomeSession) => Promise<Result>,
  ): Promise<Result | null> {
    const until = performance.now() + besideWaitMs;
    using session = await this.lock(memo.home, { make: false, readOnlyWillDo: false, until });
    await session?.recover();
    // Of another journal, in its place, nothing is known.
    return session === null || memo.generation !== generation ? null : await work(session);
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

  /** Finishes and settles a home's journal, and packs it if it is long. Throws `BUSY` if somebody holds the home for too long. */
  async retire(home: FileHome, waiting: Waiting): Promise<void> {
    using session = await this.lock(home, waiting);
    if (session?.isSetUp) {
      await session.recover();
      await session.history.load();
      await session.settling.retire(idleBytes);
      const { memo, place } = session;
      if (memo.tail !== null && memo.sizes !== null) writeSizes(place.own, memo.tail, memo.sizes.known);
    }
    session?.memo.forgetPlace();
  }

  async #retireIdle(memo: HomeMemo, waitMs: number): Promise<void> {
    try {
      const until = performance.now() + waitMs;
      await this.retire(memo.home, { make: false, readOnlyWillDo: false, until });
    } catch (error) {
      if (!(error instanceof ToolError) || error.code !== "BUSY") throw error;
      // The process that holds the lock will probably do it. If not, it is tried again.
      this.#toRetire(memo);
    }
  }

  /** Runs a home's retirement in the background. A failure loses nothing: the frames stay. */
  #run({ home }: HomeMemo, work: () => Promise<void>): void {
    const running = work()
      .catch((error: unknown) => {
        const why = error instanceof Error ? error.message : "unknown reason";
        this.#setup.note(home, `the journal could not be settled (${why})`);
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

  /** The process can end without waiting for this. Whoever uses the home next settles its frames. */
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
        // The frames stay, and the next start settles them.
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

/** Returns where the journal ends then. */
async function sayWhatIsSettled(session: HomeSession, end: JournalEnd): Promise<JournalTail | null> {
  await session.history.load();
  await session.settling.note(end);
  await session.settling.beginSegment(journalLimits.segmentBytes);
  await session.settling.tidyUp([]);
  return session.memo.tail;
}

/** Called without the lock: a flush has failed, and this process can be killed before it has the lock. */
function distrustJournal(own: Directory, home: FileHome): void {
  using journal = Journal.open(own, home);
  journal?.markDistrusted();
}
