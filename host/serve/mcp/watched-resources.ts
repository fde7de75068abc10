import type { ChangeFeed } from "./change-feed.ts";
import { mcpLimits } from "./mcp-limits.ts";
import { ProtocolError, ProtocolErrorCode } from "./sdk.ts";
import type { Server } from "./sdk.ts";

/** The resources that one connection of the 2025 revisions watches, by URI. */
export class WatchedResources {
  readonly #feed: ChangeFeed;
  /** The function that ends each watch. */
  readonly #ends = new Map<string, () => void>();

  constructor(feed: ChangeFeed) {
    this.#feed = feed;
  }

  add(uri: string): void {
    if (this.#ends.has(uri)) return;
    if (this.#ends.size >= mcpLimits.subscriptionsMax) {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `Cannot subscribe: the connection has ${this.#ends.size} subscriptions, at most ${mcpLimits.subscriptionsMax} allowed`,
      );
    }
    this.#ends.set(uri, this.#feed.watch([uri]));
  }

  delete(uri: string): void {
    this.#ends.get(uri)?.();
    this.#ends.delete(uri);
  }

  has(uri: string): boolean {
    return this.#ends.has(uri);
  }

  close(): void {
    for (const uri of this.#ends.keys()) this.delete(uri);
  }
}

/** The resources to watch, from the unchecked parameters of `subscriptions/listen` (2026-07-28). */
export function listenedUris(params: unknown): string[] {
  const { resourceSubscriptions: uris } = (params as ListenParams | null | undefined)?.notifications ?? {};
  return Array.isArray(uris) ? uris.filter((uri) => typeof uri === "string") : [];
}

interface ListenParams {
  readonly notifications?: { readonly resourceSubscriptions?: unknown } | null;
}

/** Sends a feed's events to a server's client. Returns the function that stops it. */
export function passOn(feed: ChangeFeed, server: Server, isWatched: (uri: string) => boolean): () => void {
  return feed.bus.subscribe((event) => {
    if (event.kind === "resource_updated" && isWatched(event.uri)) {
      void server.sendResourceUpdated({ uri: event.uri }).catch(ignore);
    } else if (event.kind === "resources_list_changed") void server.sendResourceListChanged().catch(ignore);
  });
}

/** For a connection that has just ended. */
function ignore(): void {}
