import { addAbortListener } from "node:events";

import type { Runtime } from "../../runtime/api.ts";
import { ChangeFeed } from "../mcp/change-feed.ts";
import { createMcpHandler, isLegacyRequest, WebStandardStreamableHTTPServerTransport } from "../mcp/sdk.ts";
import type { McpHttpHandler, McpRequestContext, Server } from "../mcp/sdk.ts";
import { listenedUris } from "../mcp/watched-resources.ts";
import { httpLimits } from "./http-limits.ts";
import { isStanding, serverFor } from "./mcp-call.ts";
import type { McpCall, UserParts } from "./mcp-call.ts";
import type { RpcMessage } from "./read-body.ts";
import { RefusedRequest } from "./refusals.ts";

interface EndpointParts {
  readonly runtime: Runtime;
  readonly streamsPerUserMax: number;
  readonly onError: (error: Error) => void;
  readonly pageUrl: string | null;
}

/** The endpoints of users with open requests or streams. */
export class UserEndpoints {
  readonly #parts: EndpointParts;
  readonly #endpoints = new Map<string, UserEndpoint>();

  constructor(parts: EndpointParts) {
    this.#parts = parts;
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

  /** The streams of all users. */
  get streams(): number {
    return Array.from(this.#endpoints.values(), (endpoint) => endpoint.streams).reduce((sum, count) => sum + count, 0);
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#endpoints.values(), (endpoint) => endpoint.close()));
  }
}

/** The endpoint of one user. It never gets data of other users. */
export class UserEndpoint {
  readonly #parts: UserParts;
  readonly #streamsMax: number;
  readonly #modern: McpHttpHandler;
  readonly #lone: LoneRequests;
  /** The call of each request that the SDK is given. */
  readonly #calls = new WeakMap<Request, McpCall>();
  readonly #onIdle: () => void;
  #requests = 0;
  #bodyBytes = 0;
  #streams = 0;

  /** `onIdle` is called when nothing is open any more. */
  constructor(userId: string, { runtime, onError, streamsPerUserMax, pageUrl }: EndpointParts, onIdle: () => void) {
    this.#parts = { runtime, userId, onError, pageUrl, feed: new ChangeFeed(runtime, userId) };
    this.#streamsMax = streamsPerUserMax;
    this.#onIdle = onIdle;
    this.#lone = new LoneRequests(this.#parts);
    const serverOf = ({ requestInfo }: McpRequestContext): Server => {
      const call = requestInfo && this.#calls.get(requestInfo);
      if (!call) throw new TypeError("The SDK asks for a server of an unknown request");
      return serverFor(this.#parts, call, "by-bus");
    };
    this.#modern = createMcpHandler(serverOf, {
      legacy: "reject",
      bus: this.#parts.feed.bus,
      maxSubscriptions: this.#streamsMax,
      onerror: onError,
    });
  }

  get streams(): number {
    return this.#streams;
  }

  /** Counts requests and their body until `leave`. Throws `user-busy`. */
  enter(bodyBytes: number, requests: number = 1): void {
    // The first request is accepted whatever its size.
    const isTooMuch = this.#requests > 0 && this.#bodyBytes + bodyBytes > httpLimits.bodyBytesPerUserMax;
    if (isTooMuch || this.#requests + requests > httpLimits.requestsPerUserMax) {
      throw new RefusedRequest("user-busy", { headers: { "Retry-After": "1" } });
    }
    this.#requests += requests;
    this.#bodyBytes += bodyBytes;
  }

  /** Call it once for each `enter`. */
  leave(bodyBytes: number, requests: number = 1): void {
    this.#requests -= requests;
    this.#bodyBytes -= bodyBytes;
    this.#settle();
  }

  /** Answers through `send`. Until `send` resolves, a stream is counted. */
  async answer(call: McpCall, send: (response: Response) => Promise<void>): Promise<void> {
    if (!isStanding(call)) return await send(await this.#route(call));
    if (this.#streams >= this.#streamsMax)
      throw new RefusedRequest("streams-full", { headers: { "Retry-After": "10" } });
    this.#streams++;
    const unwatch = this.#parts.feed.watch(listenedUris(call.message?.params));
    try {
      await send(await this.#route(call));
    } finally {
      unwatch();
      this.#streams--;
    }
  }

  /** The same for a batch. Each message counts as a request, and its refusal is on record. */
  async answerBatch(
    call: McpCall,
    batch: readonly RpcMessage[],
    send: (response: Response) => Promise<void>,
  ): Promise<void> {
    await checkBatch(call, batch);
    this.enter(0, batch.length - 1);
    try {
      const answers = await Promise.all(batch.map(async (message) => (await this.#route({ ...call, message })).text()));
      const bodies = answers.filter((body) => body !== "");
      const json = { headers: { "Content-Type": "application/json" } };
      await send(bodies.length > 0 ? new Response(`[${bodies.join(",")}]`, json) : new Response(null, { status: 202 }));
    } finally {
      this.leave(0, batch.length - 1);
    }
  }

  /** Ends streams and running requests. */
  async close(): Promise<void> {
    this.#lone.close();
    await this.#modern.close();
    this.#parts.feed.close();
  }

  async #route(call: McpCall): Promise<Response> {
    const { request, message, signal } = call;
    // The streams and the sessions of 2025 had these methods.
    if (request.method !== "POST") throw new RefusedRequest("method-unknown", { headers: { Allow: "POST" } });
    const isLegacy = await isLegacyRequest(request, message);
    if (!isLegacy) this.#calls.set(request, call);
    const response = await (isLegacy ? this.#lone.answer(call) : this.#modern.fetch(request, { parsedBody: message }));
    // The SDK refused the request: the client made a mistake in MCP. It also says 499 because the server closes.
    if (response.status >= 400 && (response.status !== endedStatus || signal.aborted))
      call.record(`mcp-${response.status}`);
    return response;
  }

  #settle(): void {
    if (this.#requests > 0 || this.#streams > 0) return;
    this.#parts.feed.close();
    this.#onIdle();
  }
}

/** The SDK's status for a request that it ended, because the server closes or the client is gone. */
export const endedStatus = 499;

/** Throws `batch-removed` or `body-no-message`. */
async function checkBatch({ request }: McpCall, batch: readonly RpcMessage[]): Promise<void> {
  if ((request.headers.get("mcp-protocol-version") ?? "") >= "2025-06-18") throw new RefusedRequest("batch-removed");
  const isLegacy = await Promise.all(batch.map((message) => isLegacyRequest(request, message)));
  // A handshake is no part of one.
  if (isLegacy.includes(false) || batch.some(({ method }) => method === "initialize"))
    throw new RefusedRequest("body-no-message");
}

/** The requests of the 2025 revisions of one user. Each stands alone, as those of 2026-07-28 do: there are no sessions. */
class LoneRequests {
  readonly #parts: UserParts;
  /** What cancels each request under way. `key`: its sender and id, which two clients of one sender can have at once. */
  readonly #underWay = new Set<{ readonly key: string; readonly cancel: AbortController }>();

  constructor(parts: UserParts) {
    this.#parts = parts;
  }

  /** Answers one message by a server of its own, as JSON. A request that is cancelled gets an error. */
  async answer(call: McpCall): Promise<Response> {
    const { request, message, signal } = call;
    if (message?.method === "notifications/cancelled") this.#cancel(call);
    const own = { key: keyOf(call, message?.id), cancel: new AbortController() };
    const over = new Promise<Response>((resolve) => {
      addAbortListener(AbortSignal.any([signal, own.cancel.signal]), () => resolve(cancelled(message?.id)));
    });
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    const server = serverFor(this.#parts, call, "none");
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a Server is no EventTarget
    server.onerror = this.#parts.onError;
    // At once: a cancellation can be in the same batch.
    this.#underWay.add(own);
    try {
      await server.connect(transport);
      return await Promise.race([transport.handleRequest(request, { parsedBody: message }), over]);
    } finally {
      this.#underWay.delete(own);
      // Aborts what still runs.
      await server.close();
    }
  }

  /** Answers all that is under way with an error. */
  close(): void {
    for (const { cancel } of this.#underWay) cancel.abort();
  }

  /** Without sessions, one id can stand for requests of two clients. Then neither is cancelled. */
  #cancel(call: McpCall): void {
    const { requestId } = (call.message?.params ?? {}) as { requestId?: unknown };
    if (requestId === undefined) return;
    const asked = keyOf(call, requestId);
    const [found, other] = Array.from(this.#underWay).filter(({ key }) => key === asked);
    if (other === undefined) found?.cancel.abort();
  }
}

/** The sender is what the request's own token says: its client and its id. */
const keyOf = ({ client, labels }: McpCall, id: unknown): string => JSON.stringify([client.client, labels.token, id]);

/** With the JSON-RPC error code of a cancelled request. */
const cancelled = (id: unknown): Response =>
  Response.json({ jsonrpc: "2.0", id: id ?? null, error: { code: -32_800, message: "Request cancelled" } });
