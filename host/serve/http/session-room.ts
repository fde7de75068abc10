/** Room for the sessions of all users: so many clients that never come back do not take all memory. */
import { RefusedRequest } from "./refusals.ts";

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
