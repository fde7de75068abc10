import type { ChangeFeed } from "./change-feed.ts";
import type { Server } from "./sdk.ts";

/** The resources that one connection watches, by what asks for them: a URI in 2025, the id of a stream in 2026-07-28. */
export class WatchedResources {
  readonly #feed: ChangeFeed;
  /** The function that ends each watch. */
  readonly #ends = new Map<unknown, () => void>();

  constructor(feed: ChangeFeed) {
    this.#feed = feed;
  }

  get size(): number {
    return this.#ends.size;
  }

  /** Watches these in place of what was asked for before. */
  add(asker: unknown, uris: readonly string[]): void {
    this.delete(asker);
    this.#ends.set(asker, this.#feed.watch(uris));
  }

  delete(asker: unknown): void {
    this.#ends.get(asker)?.();
    this.#ends.delete(asker);
  }

  has(asker: unknown): boolean {
    return this.#ends.has(asker);
  }

  close(): void {
    for (const asker of this.#ends.keys()) this.delete(asker);
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
