import type { ChangeFeed } from "./change-feed.ts";
import { mcpLimits } from "./mcp-limits.ts";
import { ProtocolError, ProtocolErrorCode } from "./sdk.ts";
import type { Server } from "./sdk.ts";

/** Which resources one connection of the 2025 revisions watches, by the URIs that `memory-uri.ts` makes. */
export class WatchedResources {
  readonly #uris = new Set<string>();

  add(uri: string): void {
    if (this.#uris.size >= mcpLimits.subscriptionsMax && !this.#uris.has(uri)) {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `Cannot subscribe: the connection has ${this.#uris.size} subscriptions, at most ${mcpLimits.subscriptionsMax} allowed`,
      );
    }
    this.#uris.add(uri);
  }

  delete(uri: string): void {
    this.#uris.delete(uri);
  }

  has(uri: string): boolean {
    return this.#uris.has(uri);
  }
}

/** Passes a feed's events on to a server's client. Returns what ends it. */
export function passOn(feed: ChangeFeed, server: Server, isWatched: (uri: string) => boolean): () => void {
  return feed.bus.subscribe((event) => {
    if (event.kind === "resource_updated" && isWatched(event.uri)) {
      void server.sendResourceUpdated({ uri: event.uri }).catch(ignore);
    } else if (event.kind === "resources_list_changed") void server.sendResourceListChanged().catch(ignore);
  });
}

/** The connection has just ended: there is nobody left to tell. */
function ignore(): void {}
