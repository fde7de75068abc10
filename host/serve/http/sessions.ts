/** The sessions of clients that speak a 2025 revision: those of each user by themselves, within room for all. */
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
  /** Requests and streams under way. While there are any, it is in use. */
  busy: number;
  idleTimer?: NodeJS.Timeout;
}

/** Those of one user. No other user's are to be found here. */
export class Sessions {
  readonly #parts: UserParts;
  readonly #limits: SessionLimits;
  readonly #onEnd: () => void;
  readonly #places = new Map<string, Place>();
  /** For this user, and for all. */
  readonly #rooms: readonly [own: SessionRoom, shared: SessionRoom];

  /** `onEnd` is called whenever one has ended. */
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
   * Makes a session for a handshake. When there are as many as may be, the one that was unused for the longest ends: it
   * belongs to a client that went away without a word, or that will begin anew. Throws `sessions-full` when all are in use.
   */
  async initialise(call: McpCall): Promise<Response> {
    // All of it is kept for as long as the session.
    if (JSON.stringify(call.message).length > httpLimits.handshakeCharsMax) throw new RefusedRequest("body-too-large");
    const id = randomUUID();
    const [own, shared] = this.#rooms;
    await own.enter(id);
    const place: Place = { session: new Session(this.#parts, id), busy: 1 };
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

  /** Holds a session so that it does not end for lack of use. Throws `session-unknown`: whatever is not here never was. */
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

/** Room for the sessions of one user or of all: many clients that never come back do not take all memory. */
export class SessionRoom {
  readonly #sessionsMax: number;
  readonly #used = new Set<string>();
  /** How each session that nobody uses ends; the longest unused first. */
  readonly #unused = new Map<string, () => Promise<void>>();

  constructor(sessionsMax: number) {
    this.#sessionsMax = sessionsMax;
  }

  /** A new session, in use. Where there is no room, the longest unused ends. Throws `sessions-full` when all are in use. */
  async enter(id: string): Promise<void> {
    // Another may have taken the room meanwhile.
    while (this.#used.size + this.#unused.size >= this.#sessionsMax) {
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
