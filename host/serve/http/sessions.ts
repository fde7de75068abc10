/** The sessions of clients that use a 2025 revision, separate for each user, with a common maximum. */
import { randomUUID } from "node:crypto";

import { httpLimits } from "./http-limits.ts";
import type { McpCall, UserParts } from "./mcp-call.ts";
import { RefusedRequest } from "./refusals.ts";
import { Session } from "./session.ts";

export interface SessionLimits {
  readonly sessionsPerUserMax: number;
  readonly sessionIdleMs: number;
  /** Shared by all users. */
  readonly room: SessionRoom;
}

interface Place {
  readonly session: Session;
  /** Open requests and streams. The session is in use while there are any. */
  busy: number;
  idleTimer?: NodeJS.Timeout;
}

/** The sessions of one user only. */
export class Sessions {
  readonly #parts: UserParts;
  readonly #limits: SessionLimits;
  readonly #onEnd: () => void;
  readonly #places = new Map<string, Place>();
  readonly #rooms: readonly [own: SessionRoom, shared: SessionRoom];

  /** `onEnd` is called each time a session has ended. */
  constructor(parts: UserParts, limits: SessionLimits, onEnd: () => void) {
    this.#parts = parts;
    this.#limits = limits;
    this.#onEnd = onEnd;
    this.#rooms = [new SessionRoom(limits.sessionsPerUserMax), limits.room];
  }

  get count(): number {
    return this.#places.size;
  }

  /**
   * Creates a session for a handshake. At the maximum, first ends the session that was unused for the longest: its
   * client has left, or can begin a new one. Throws `sessions-full` when all are in use.
   */
  async initialise(call: McpCall): Promise<Response> {
    // The handshake is kept as long as the session.
    if (JSON.stringify(call.message).length > httpLimits.handshakeCharsMax) throw new RefusedRequest("body-too-large");
    const id = randomUUID();
    const [own, shared] = this.#rooms;
    await own.enter(id);
    const place: Place = { session: new Session(this.#parts, id, call.access === "write"), busy: 1 };
    this.#places.set(id, place);
    try {
      await shared.enter(id);
      await place.session.open(() => this.#forget(id));
      return await place.session.answer(call);
    } finally {
      if (place.session.isInitialised) this.release(id);
      else {
        await place.session.close();
        this.#forget(id);
      }
    }
  }

  /** Marks a session as in use. Throws `session-unknown`, with no difference between ended and unknown ids. */
  hold(id: string): Session {
    const place = this.#places.get(id);
    if (!place) throw new RefusedRequest("session-unknown");
    place.busy++;
    for (const room of this.#rooms) room.use(id);
    clearTimeout(place.idleTimer);
    return place.session;
  }

  release(id: string): void {
    const place = this.#places.get(id);
    if (!place || --place.busy > 0) return;
    for (const room of this.#rooms) room.unuse(id, () => place.session.close());
    place.idleTimer = setTimeout(() => void place.session.close(), this.#limits.sessionIdleMs);
    place.idleTimer.unref();
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#places.values(), ({ session }) => session.close()));
  }

  #forget(id: string): void {
    clearTimeout(this.#places.get(id)?.idleTimer);
    for (const room of this.#rooms) room.leave(id);
    if (this.#places.delete(id)) this.#onEnd();
  }
}

/** Bounds the sessions of one user or of all users, so that clients that never return do not fill the memory. */
export class SessionRoom {
  readonly #sessionsMax: number;
  readonly #used = new Set<string>();
  /** The function that ends each unused session; the longest unused first. */
  readonly #unused = new Map<string, () => Promise<void>>();

  constructor(sessionsMax: number) {
    this.#sessionsMax = sessionsMax;
  }

  get count(): number {
    return this.#used.size + this.#unused.size;
  }

  /** Adds a session in use. At the maximum, ends the longest unused one. Throws `sessions-full` when all are in use. */
  async enter(id: string): Promise<void> {
    // Another session can have taken the place meanwhile.
    while (this.count >= this.#sessionsMax) {
      const [end] = this.#unused.values();
      if (!end) throw new RefusedRequest("sessions-full", { headers: { "Retry-After": "10" } });
      await end();
    }
    this.#used.add(id);
  }

  use(id: string): void {
    if (this.#unused.delete(id)) this.#used.add(id);
  }

  unuse(id: string, end: () => Promise<void>): void {
    if (this.#used.delete(id)) this.#unused.set(id, end);
  }

  leave(id: string): void {
    this.#used.delete(id);
    this.#unused.delete(id);
  }
}
