import type { ChangeFeed } from "../mcp/change-feed.ts";
import { mcpLimits } from "../mcp/mcp-limits.ts";
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
} from "../mcp/sdk.ts";
import type { JSONRPCMessage } from "../mcp/sdk.ts";
import { listenedUris } from "../mcp/watched-resources.ts";

type Id = string | number;

/** Which resources the streams of a connection of 2026-07-28 watch. The SDK keeps the streams, and tells nobody. */
export class ListenedResources {
  readonly #feed: ChangeFeed;
  /** What ends the watch of each stream, by its request's id. */
  readonly #ends = new Map<Id, () => void>();

  constructor(feed: ChangeFeed) {
    this.#feed = feed;
  }

  read(message: JSONRPCMessage): void {
    if (isJSONRPCRequest(message) && message.method === "subscriptions/listen") this.#watch(message.id, message.params);
    if (isJSONRPCNotification(message) && message.method === "notifications/cancelled") {
      this.#end(message.params?.["requestId"] as Id);
    }
  }

  /** A stream that is answered was refused, or has ended. */
  sent(message: JSONRPCMessage): void {
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) this.#end(message.id);
  }

  /** One more than the SDK keeps is refused. */
  #watch(id: Id, params: unknown): void {
    if (this.#ends.size >= mcpLimits.listensMax) return;
    this.#end(id);
    this.#ends.set(id, this.#feed.watch(listenedUris(params)));
  }

  #end(id: Id | undefined): void {
    if (id === undefined) return;
    this.#ends.get(id)?.();
    this.#ends.delete(id);
  }
}
