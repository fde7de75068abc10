/** One session of a client that speaks a 2025 revision: a server and a transport of its own, for one user. */
import { WebStandardStreamableHTTPServerTransport } from "../mcp/sdk.ts";
import type { Server } from "../mcp/sdk.ts";
import { makeUserServer } from "../mcp/user-server.ts";
import { authOf } from "./mcp-call.ts";
import type { McpCall, UserParts } from "./mcp-call.ts";
import { RefusedRequest } from "./refusals.ts";

/** What JSON-RPC calls a request that was cancelled. */
const cancelledCode = -32_800;

export class Session {
  readonly id: string;
  readonly #transport: WebStandardStreamableHTTPServerTransport;
  readonly #server: Server;
  /** Requests under way, and what answers each. */
  readonly #underWay = new Map<string | number, (response: Response) => void>();

  constructor({ runtime, userId, feed, onError }: UserParts, id: string) {
    this.id = id;
    // A request is answered with JSON: a stream for each would have to be kept until somebody reads it.
    this.#transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      enableJsonResponse: true,
    });
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport is no EventTarget
    this.#transport.onerror = onError;
    const labels = { via: "mcp-http", session: id.slice(0, 8) };
    this.#server = makeUserServer({ runtime, userId, labels, feed });
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a Server is no EventTarget
    this.#server.onerror = onError;
  }

  /** `onEnd` is called once: when the client, the server or a lack of use has ended it. */
  async open(onEnd: () => void): Promise<void> {
    await this.#server.connect(this.#transport);
    const transport = this.#transport;
    const ended = transport.onclose;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport is no EventTarget
    transport.onclose = () => {
      ended?.();
      // With DELETE a client may end it while its requests run, and the transport would leave them without an answer.
      for (const [id, answer] of this.#underWay) answer(Response.json(cancelled(id)));
      onEnd();
    };
  }

  /** Whether the client has shaken hands. */
  get isInitialised(): boolean {
    return this.#transport.sessionId !== undefined;
  }

  /** Throws `id-in-use`: two requests of one name could not be told apart. */
  async answer(call: McpCall): Promise<Response> {
    const { request, message, signal } = call;
    const id = message?.method === undefined ? undefined : message.id;
    if (id === undefined) return await this.#notified({ request, message });
    if (this.#underWay.has(id)) throw new RefusedRequest("id-in-use");
    const cancel = (): void => {
      this.#transport.onmessage?.({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
      this.#settle(id);
    };
    signal.addEventListener("abort", cancel, { once: true });
    try {
      return await new Promise((resolve, reject) => {
        this.#underWay.set(id, resolve);
        this.#transport.handleRequest(request, { parsedBody: message, ...authOf(call) }).then(resolve, reject);
      });
    } finally {
      signal.removeEventListener("abort", cancel);
      this.#underWay.delete(id);
    }
  }

  async close(): Promise<void> {
    await this.#transport.close();
  }

  async #notified({ request, message }: Pick<McpCall, "request" | "message">): Promise<Response> {
    const response = await this.#transport.handleRequest(request, message && { parsedBody: message });
    if (response.ok && message?.method === "notifications/cancelled") {
      const { requestId } = (message.params ?? {}) as { requestId?: string | number };
      if (requestId !== undefined && this.#underWay.has(requestId)) this.#settle(requestId);
    }
    return response;
  }

  /** A cancelled request has no answer, and the transport would keep its place for ever: it gets one that says so. */
  #settle(id: string | number): void {
    // It may have been answered just now.
    this.#transport.send(cancelled(id)).catch(() => null);
  }
}

const cancelled = (id: string | number) => ({
  jsonrpc: "2.0" as const,
  id,
  error: { code: cancelledCode, message: "Request cancelled" },
});
