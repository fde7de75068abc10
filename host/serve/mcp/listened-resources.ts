import type { ChangeFeed } from "./change-feed.ts";
import { mcpLimits } from "./mcp-limits.ts";
import { isJSONRPCErrorResponse, isJSONRPCNotification, isJSONRPCRequest, isJSONRPCResultResponse } from "./sdk.ts";
import type { JSONRPCMessage } from "./sdk.ts";
import { listenedUris } from "./watched-resources.ts";

type Id = string | number;

/** The resources that a 2026-07-28 connection's streams watch. The SDK does not expose its streams. */
export class ListenedResources {
  readonly #feed: ChangeFeed;
  /** The function that ends each stream's watch, by the request's id. */
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

  /** An answer means that the stream was refused or has ended. */
  sent(message: JSONRPCMessage): void {
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) this.#end(message.id);
  }

  /** Ignores streams beyond the SDK's maximum, which the SDK refuses. */
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
