import type { HomeSession } from "./home-session.ts";

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

interface Kept {
  readonly session: HomeSession;
  readonly sinceMs: number;
}

/**
 * The sessions of homes that were used some milliseconds ago. The next call of the same home needs no walk, no lock and
 * no look at the WAL. A session is released when it was idle for a while, and at once when somebody waits for its lock.
 */
export class KeptSessions<Id> {
  readonly #limits: KeptLimits;
  readonly #onReleased: (id: Id) => void;
  /** The one that was used last comes last. */
  readonly #kept = new Map<Id, Kept>();
  #timer: NodeJS.Timeout | null = null;

  /** `onReleased` is called for each session that was not taken. */
  constructor(limits: KeptLimits, onReleased: (id: Id) => void) {
    this.#limits = limits;
    this.#onReleased = onReleased;
  }

  /** Returns a home's session, which the caller then owns; `null` if there is none that can be used. */
  take(id: Id): HomeSession | null {
    const kept = this.#kept.get(id);
    if (kept === undefined) return null;
    if (isUsable(kept.session, this.#limits)) {
      this.#kept.delete(id);
      return kept.session;
    }
    this.drop(id);
    return null;
  }

  /** Takes over a session whose call has succeeded, or releases it. */
  keep(id: Id, session: HomeSession): void {
    const { ageMs, sessionsMax } = this.#limits;
    this.drop(id);
    this.#kept.set(id, { session, sinceMs: performance.now() });
    if (!session.isAtRest || session.ageMs >= ageMs || session.place.isWaitedFor()) return this.drop(id);
    session.rest();
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > sessionsMax && oldest !== undefined) this.drop(oldest);
    this.#arm();
  }

  /** Releases a home's session, if there is one. */
  drop(id: Id): void {
    const kept = this.#kept.get(id);
    if (kept === undefined) return;
    this.#kept.delete(id);
    kept.session[Symbol.dispose]();
    this.#onReleased(id);
  }

  /** Releases all. */
  dropAll(): void {
    for (const id of this.#kept.keys()) this.drop(id);
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Releases those that were idle for long enough. */
  #sweep(): void {
    this.#timer = null;
    const limit = performance.now() - this.#limits.idleMs;
    for (const [id, { sinceMs }] of this.#kept) if (sinceMs <= limit) this.drop(id);
    this.#arm();
  }

  /** The process can end without waiting for this: the kernel releases the locks. */
  #arm(): void {
    if (this.#kept.size > 0) this.#timer ??= setTimeout(() => this.#sweep(), this.#limits.idleMs).unref();
  }
}

/** If the disk does not let it be seen, a new walk reports that. */
function isUsable(session: HomeSession, { ageMs }: KeptLimits): boolean {
  try {
    return session.ageMs < ageMs && session.isStill();
  } catch {
    return false;
  }
}
