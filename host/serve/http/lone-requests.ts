import { addAbortListener } from "node:events";

import { WebStandardStreamableHTTPServerTransport } from "../mcp/sdk.ts";
import { serverFor } from "./mcp-call.ts";
import type { McpCall, UserParts } from "./mcp-call.ts";

/** The requests of the 2025 revisions of one user. Each stands alone, as those of 2026-07-28 do: there are no sessions. */
export class LoneRequests {
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
