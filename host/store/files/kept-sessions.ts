/**
 * The sessions of homes that were used some milliseconds ago. The next call of the same home needs no walk, no lock and
 * no look at the journal. A session is released when it was idle for a while, and at once when somebody waits for its lock.
 */
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
