import { httpLimits } from "./http-limits.ts";
import { SessionRoom } from "./session-room.ts";
import { UserEndpoint } from "./user-endpoint.ts";
import type { EndpointParts } from "./user-endpoint.ts";

/** The endpoints of the users who have something open, and of nobody else. */
export class UserEndpoints {
  readonly #parts: EndpointParts;
  readonly #endpoints = new Map<string, UserEndpoint>();

  constructor(parts: Omit<EndpointParts, "room">) {
    this.#parts = { ...parts, room: new SessionRoom(httpLimits.sessionsMax) };
  }

  /** That of a user whose identity has been verified. */
  of(userId: string): UserEndpoint {
    const known = this.#endpoints.get(userId);
    if (known) return known;
    const endpoint = new UserEndpoint(userId, this.#parts, () => {
      if (this.#endpoints.get(userId) === endpoint) this.#endpoints.delete(userId);
    });
    this.#endpoints.set(userId, endpoint);
    return endpoint;
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#endpoints.values(), (endpoint) => endpoint.close()));
  }
}
