import type { Runtime } from "../../runtime/api.ts";
import { ChangeFeed } from "../mcp/change-feed.ts";
import { createMcpHandler, isInitializeRequest, isLegacyRequest } from "../mcp/sdk.ts";
import type { McpHttpHandler } from "../mcp/sdk.ts";
import { listenedUris } from "../mcp/watched-resources.ts";
import { httpLimits } from "./http-limits.ts";
import { authOf, isStanding, mayWrite, serverFor } from "./mcp-call.ts";
import type { McpCall, UserParts } from "./mcp-call.ts";
import { RefusedRequest } from "./refusals.ts";
import { SessionRoom, Sessions } from "./sessions.ts";
import type { SessionLimits } from "./sessions.ts";

interface EndpointParts extends SessionLimits {
  readonly runtime: Runtime;
  readonly onError: (error: Error) => void;
}

/** The endpoints of users with open requests, streams or sessions. */
export class UserEndpoints {
  readonly #parts: EndpointParts;
  readonly #endpoints = new Map<string, UserEndpoint>();

  constructor(parts: Omit<EndpointParts, "room">) {
    this.#parts = { ...parts, room: new SessionRoom(httpLimits.sessionsMax) };
  }

  /** The endpoint of a user whose identity was verified. */
  of(userId: string): UserEndpoint {
    const known = this.#endpoints.get(userId);
    if (known) return known;
    const endpoint = new UserEndpoint(userId, this.#parts, () => {
      if (this.#endpoints.get(userId) === endpoint) this.#endpoints.delete(userId);
    });
    this.#endpoints.set(userId, endpoint);
    return endpoint;
  }

  /** The sessions and streams of all users. */
  get open(): { readonly sessions: number; readonly streams: number } {
    const streams = Array.from(this.#endpoints.values(), (endpoint) => endpoint.streams);
    return { sessions: this.#parts.room.count, streams: streams.reduce((sum, count) => sum + count, 0) };
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#endpoints.values(), (endpoint) => endpoint.close()));
  }
}

/** The endpoint of one user. It never gets data of other users. */
class UserEndpoint {
  readonly #parts: UserParts;
  readonly #streamsMax: number;
  readonly #modern: McpHttpHandler;
  readonly #sessions: Sessions;
  readonly #onIdle: () => void;
  #requests = 0;
  #bodyBytes = 0;
  #streams = 0;

  /** `onIdle` is called when nothing is open any more. */
  constructor(userId: string, { runtime, onError, ...limits }: EndpointParts, onIdle: () => void) {
    this.#parts = { runtime, userId, onError, feed: new ChangeFeed(runtime, userId) };
    this.#streamsMax = limits.sessionsPerUserMax;
    this.#onIdle = onIdle;
    this.#sessions = new Sessions(this.#parts, limits, () => this.#settle());
    this.#modern = createMcpHandler((context) => serverFor(this.#parts, null, mayWrite(context)), {
      legacy: "reject",
      bus: this.#parts.feed.bus,
      maxSubscriptions: this.#streamsMax,
      onerror: onError,
    });
  }

  get streams(): number {
    return this.#streams;
  }

  /** Counts a request and its body until `leave`. Throws `user-busy`. */
  enter(bodyBytes: number): void {
    // The first request is accepted whatever its size.
    const isTooMuch = this.#requests > 0 && this.#bodyBytes + bodyBytes > httpLimits.bodyBytesPerUserMax;
    if (isTooMuch || this.#requests >= httpLimits.requestsPerUserMax) {
      throw new RefusedRequest("user-busy", { headers: { "Retry-After": "1" } });
    }
    this.#requests++;
    this.#bodyBytes += bodyBytes;
  }

  /** Call it once for each `enter`. */
  leave(bodyBytes: number): void {
    this.#requests--;
    this.#bodyBytes -= bodyBytes;
    this.#settle();
  }

  /** Answers through `send`. Until `send` resolves, the session is in use and a stream is counted. */
  async answer(call: McpCall, send: (response: Response) => Promise<void>): Promise<void> {
    if (!isStanding(call)) return await this.#route(call, send);
    if (this.#streams >= this.#streamsMax)
      throw new RefusedRequest("streams-full", { headers: { "Retry-After": "10" } });
    this.#streams++;
    const unwatch = this.#parts.feed.watch(listenedUris(call.message?.params));
    try {
      await this.#route(call, send);
    } finally {
      unwatch();
      this.#streams--;
    }
  }

  /** Ends sessions, streams and running requests. */
  async close(): Promise<void> {
    await Promise.all([this.#modern.close(), this.#sessions.close()]);
    this.#parts.feed.close();
  }

  async #route(call: McpCall, send: (response: Response) => Promise<void>): Promise<void> {
    const { request, message, sessionId } = call;
    if (!(await isLegacyRequest(request, message))) {
      return await send(await this.#modern.fetch(request, { parsedBody: message, ...authOf(call) }));
    }
    if (sessionId === undefined) {
      if (!isInitializeRequest(message)) throw new RefusedRequest("session-missing");
      return await send(await this.#sessions.initialise(call));
    }
    const session = this.#sessions.hold(sessionId);
    try {
      await send(await session.answer(call));
    } finally {
      this.#sessions.release(sessionId);
    }
  }

  #settle(): void {
    if (this.#requests > 0 || this.#streams > 0 || this.#sessions.count > 0) return;
    this.#parts.feed.close();
    this.#onIdle();
  }
}
