import { once } from "node:events";

import { WebStandardStreamableHTTPServerTransport } from "../mcp/sdk.ts";
import { serverFor } from "./mcp-call.ts";
import type { McpCall, UserParts } from "./mcp-call.ts";

/** The requests of the 2025 revisions of one user. Each stands alone, as those of 2026-07-28 do: there are no sessions. */
export class LoneRequests {
  readonly #parts: UserParts;
  /** What cancels each request under way, by its sender and id, which two clients of one sender can have at once. */
  readonly #underWay = new Map<string, Set<AbortController>>();

  constructor(parts: UserParts) {
    this.#parts = parts;
  }

  /** Answers one message by a server of its own, as JSON. A request that is cancelled gets an error. */
  async answer(call: McpCall): Promise<Response> {
    const { request, message, signal } = call;
    if (message?.method === "notifications/cancelled") this.#cancel(call);
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    const server = serverFor(this.#parts, call, "none");
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a Server is no EventTarget
    server.onerror = this.#parts.onError;
    await server.connect(transport);
    const [key, cancel] = [keyOf(call, message?.id), new AbortController()];
    const alike = this.#underWay.get(key) ?? new Set();
    this.#underWay.set(key, alike.add(cancel));
    try {
      const over = once(AbortSignal.any([signal, cancel.signal]), "abort").then(() => cancelled(message?.id));
      return await Promise.race([transport.handleRequest(request, { parsedBody: message }), over]);
    } finally {
      alike.delete(cancel);
      if (alike.size === 0) this.#underWay.delete(key);
      // Aborts what still runs.
      await server.close();
    }
  }

  /** Answers all that is under way with an error. */
  close(): void {
    for (const alike of this.#underWay.values()) for (const cancel of alike) cancel.abort();
  }

  /** Without sessions, one id can stand for requests of two clients. Then neither is cancelled. */
  #cancel(call: McpCall): void {
    const { requestId } = (call.message?.params ?? {}) as { requestId?: unknown };
    if (requestId === undefined) return;
    const [cancel, other] = this.#underWay.get(keyOf(call, requestId)) ?? [];
    if (other === undefined) cancel?.abort();
  }
}

/** The sender is what the request's own token says: its client and its id. */
const keyOf = ({ client, tokenId }: McpCall, id: unknown): string => JSON.stringify([client.client, tokenId, id]);

/** With the JSON-RPC error code of a cancelled request. */
const cancelled = (id: unknown): Response =>
  Response.json({ jsonrpc: "2.0", id: id ?? null, error: { code: -32_800, message: "Request cancelled" } });
