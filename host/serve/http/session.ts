/** One session of a client that uses a 2025 revision. It has its own server and transport, for one user. */
import { WebStandardStreamableHTTPServerTransport } from "../mcp/sdk.ts";
import type { Server } from "../mcp/sdk.ts";
import { authOf, serverFor } from "./mcp-call.ts";
import type { McpCall, UserParts } from "./mcp-call.ts";
import { RefusedRequest } from "./refusals.ts";

/** The JSON-RPC error code of a cancelled request. */
const cancelledCode = -32_800;

export class Session {
  readonly id: string;
  readonly #transport: WebStandardStreamableHTTPServerTransport;
  readonly #server: Server;
  /** Requests without an answer yet, with the function that answers each. */
  readonly #underWay = new Map<string | number, (response: Response) => void>();

  /** `isWriter`: whether the request that opens the session may change anything. Each other is asked for itself. */
  constructor(parts: UserParts, id: string, isWriter: boolean) {
    const { onError } = parts;
    this.id = id;
    // Answers are JSON: a stream for each request would have to be kept until the client reads it.
    this.#transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      enableJsonResponse: true,
    });
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport is no EventTarget
    this.#transport.onerror = onError;
    this.#server = serverFor(parts, id, isWriter);
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a Server is no EventTarget
    this.#server.onerror = onError;
  }

  /** `onEnd` is called once, when the client, the server or a lack of use ends the session. */
  async open(onEnd: () => void): Promise<void> {
    await this.#server.connect(this.#transport);
    const transport = this.#transport;
    const ended = transport.onclose;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport is no EventTarget
    transport.onclose = () => {
      ended?.();
      // A client can send DELETE while its requests run. The transport would leave them unanswered.
      for (const [id, answer] of this.#underWay) answer(Response.json(cancelled(id)));
      onEnd();
    };
  }

  /** Whether the handshake is complete. */
  get isInitialised(): boolean {
    return this.#transport.sessionId !== undefined;
  }

  /** Throws `id-in-use`, because two requests with the same id could not be distinguished. */
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

  /** Answers a cancelled request with an error. Without an answer, the transport would keep its place forever. */
  #settle(id: string | number): void {
    // Fails if it was answered at the same moment.
    this.#transport.send(cancelled(id)).catch(() => null);
  }
}

const cancelled = (id: string | number) => ({
  jsonrpc: "2.0" as const,
  id,
  error: { code: cancelledCode, message: "Request cancelled" },
});
