/** What becomes of homes after their calls: some milliseconds their sessions are kept, and after seconds WALs are retired. */
import type { HomeSession } from "./home-session.ts";
import type { FileHome } from "./home.ts";

/** How long sessions are kept for another call. */
export interface KeptLimits {
  /** After a session's last call. */
  readonly idleMs: number;
  /** After its beginning: whoever waits for its lock is not seen if a person has removed the turnstile's file. */
  readonly ageMs: number;
  /** How many are kept at once: each has some six files and folders open. */
  readonly sessionsMax: number;
}

export const keptLimits: KeptLimits = { idleMs: 4, ageMs: 50, sessionsMax: 32 };

/**
 * The sessions of homes that were used some milliseconds ago. The next call of the same home needs no walk, no lock and
 * no look at the WAL. A session is released when it was idle for a while, and at once when somebody waits for its lock.
 */
export class KeptSessions {
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
      return session.ageMs < this.#limits.ageMs && session.isStill();
    } catch {
      return false;
    }
  }

  /** Takes over a session whose call has succeeded, or releases it. */
  keep(session: HomeSession): void {
    const { ageMs, sessionsMax } = this.#limits;
    const { home } = session;
    this.drop(home);
    this.#kept.set(home.key, { session, sinceMs: performance.now() });
    if (!session.isAtRest || session.ageMs >= ageMs || session.place.lock.isWaitedFor()) return this.drop(home);
    session.rest();
    const [oldest] = this.#kept.values();
    if (this.#kept.size > sessionsMax && oldest !== undefined) this.drop(oldest.session.home);
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
    for (const { session } of this.#kept.values()) this.drop(session.home);
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Releases those that were idle for long enough. */
  #sweep(): void {
    this.#timer = null;
    const limit = performance.now() - this.#limits.idleMs;
    for (const { session, sinceMs } of this.#kept.values()) if (sinceMs <= limit) this.drop(session.home);
    this.#arm();
  }

  /** The process can end without waiting for this: the kernel releases the locks. */
  #arm(): void {
    if (this.#kept.size > 0) this.#timer ??= setTimeout(() => this.#sweep(), this.#limits.idleMs).unref();
  }
}

/** How long after a home's last commit the WAL is retired. A crash before that costs a recovery, but no write is lost. */
const idleMs = 2_000;
/** How long closing waits for another process that holds a home. */
const closeWaitMs = 2_000;
/** How many homes' files are flushed at once: each takes descriptors. */
const retiringMax = 4;

export interface RetireWork {
  /** Retires a home's WAL, unless another process holds the home for longer than `waitMs`. */
  readonly retire: (home: FileHome, waitMs: number) => Promise<void>;
  /** The same at the end of the process, if nobody holds the home. */
  readonly retireNow: (home: FileHome) => void;
  readonly note: (home: FileHome, text: string) => void;
}

/** Retires WALs: after a home has been idle for a while, and all of them at the end. */
export class RetireSchedule {
  readonly #work: RetireWork;
  /** Homes with records, by the time of their last commit; the longest idle come first. */
  readonly #used = new Map<string, { readonly home: FileHome; readonly atMs: number }>();
  readonly #running = new Map<string, Promise<void>>();
  #timer: NodeJS.Timeout | null = null;
  #isClosing = false;

  constructor(work: RetireWork) {
    this.#work = work;
  }

  /** Notes that a home has got a commit. */
  noteUse(home: FileHome): void {
    this.#used.delete(home.key);
    this.add(home);
  }

  /** Notes that a home has records, perhaps from another process. A read does not delay the retirement. */
  add(home: FileHome): void {
    if (!this.#used.has(home.key)) this.#used.set(home.key, { home, atMs: performance.now() });
    if (atExit.size === 0) process.on("exit", retireAll);
    atExit.add(this);
    if (this.#timer === null) this.#arm(idleMs);
  }

  /** Nothing is left of a home that could be retired. */
  drop({ key }: FileHome): void {
    this.#used.delete(key);
  }

  /** Runs a home's retirement in the background. A failure loses nothing: the WAL stays. */
  run(home: FileHome, work: () => Promise<void>): void {
    const running = work()
      .catch((error: unknown) => this.#work.note(home, `the WAL could not be retired (${messageOf(error)})`))
      .finally(() => this.#running.delete(home.key));
    this.#running.set(home.key, running);
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    if (this.#timer) clearTimeout(this.#timer);
    await Promise.all(this.#running.values());
    for (const { home } of this.#used.values()) {
      this.run(home, () => this.#work.retire(home, closeWaitMs));
      await this.#running.get(home.key);
    }
    this.#used.clear();
    this.#forgetExit();
  }

  #forgetExit(): void {
    atExit.delete(this);
    if (atExit.size === 0) process.off("exit", retireAll);
  }

  retireAtExit(untilMs: number): void {
    for (const { home } of this.#used.values()) {
      if (performance.now() >= untilMs) return;
      try {
        this.#work.retireNow(home);
      } catch {
        // The WAL stays, and the next start retires it.
      }
    }
  }

  /** The process can end without waiting for this. Whoever uses the home next retires the WAL. */
  #arm(afterMs: number): void {
    if (this.#isClosing || this.#used.size === 0) return;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#sweep(), afterMs).unref();
  }

  #sweep(): void {
    this.#timer = null;
    const limit = performance.now() - idleMs;
    for (const [key, { home, atMs }] of this.#used) {
      if (atMs > limit || this.#running.size >= retiringMax) break;
      this.#used.delete(key);
      // Behind each one there is room for the next.
      if (!this.#running.has(key)) this.run(home, () => this.#work.retire(home, 0).finally(() => this.#arm(0)));
    }
    if (this.#used.size === 0) this.#forgetExit();
    this.#arm(idleMs);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : "unknown reason");

/** How long the end of a process may be delayed. What is left over is retired at the next start. */
const budgetMs = 2_000;

const atExit = new Set<RetireSchedule>();

/**
 * Called when the process ends without closing its stores: by returning, by `process.exit` or by an exception that nobody
 * catches. Then nothing asynchronous runs any more. A signal or a kill ends a process without this.
 */
function retireAll(): void {
  const untilMs = performance.now() + budgetMs;
  for (const schedule of atExit) schedule.retireAtExit(untilMs);
}
