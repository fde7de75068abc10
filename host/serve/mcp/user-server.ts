/** One user's MCP server: tools and, if there is a memory, its index and entries. */
import { version } from "../../values/version.ts";
import type { ChangeFeed } from "./change-feed.ts";
import { offerCompletion } from "./completion.ts";
import { instructionsFor } from "./instructions.ts";
import { mcpLimits } from "./mcp-limits.ts";
import { offerPrompts } from "./prompts.ts";
import { invalidParams } from "./protocol-failure.ts";
import { RecordingServer } from "./recording-server.ts";
import { known, offerResources } from "./resources.ts";
import type { Server, ServerCapabilities } from "./sdk.ts";
import { serveUser } from "./served-user.ts";
import type { ServedUser, ServedUserParts } from "./served-user.ts";
import { offerTools } from "./tools.ts";
import { WatchedResources, passOn } from "./watched-resources.ts";

export interface UserServerOptions extends ServedUserParts {
  /** The feed of the same user. */
  readonly feed: ChangeFeed;
  readonly changes: SentChanges;
}

/**
 * Which changes the server sends. `watched`: those that a client of the 2025 revisions subscribed to, after the
 * handshake. `all`: every change, for a connection that filters them. `by-bus`: it offers them, and the feed's bus
 * carries them. `none`: it offers none.
 */
export type SentChanges = "watched" | "all" | "by-bus" | "none";

const memoryCapabilities = (changes: SentChanges): ServerCapabilities => ({
  resources: changes === "none" ? {} : { subscribe: true, listChanged: true },
  completions: {},
});

/**
 * Creates a server for one connection, or for one request if requests are independent. It sets its own `onclose` and
 * `oninitialized`, so listen to the transport for its end.
 *
 * @example
 * const server = makeUserServer({ runtime, userId: "alice", labels: { via: "mcp-stdio" }, client, feed, changes });
 * await server.connect(transport);
 */
export function makeUserServer(options: UserServerOptions): Server {
  const { runtime, feed, changes } = options;
  const hasIndex = runtime.families().some((family) => family.hasIndex);
  const instructions = instructionsFor(runtime);
  const server = new RecordingServer(
    { name: "memcell", version },
    {
      capabilities: {
        tools: {},
        ...(runtime.hasMemory && memoryCapabilities(changes)),
        ...(hasIndex && { prompts: {} }),
      },
      ...(instructions !== "" && { instructions }),
    },
  );
  const user = serveUser(options, server);
  server.onRefused = user.refused;
  offerTools(server, user);
  if (!runtime.hasMemory) return server;
  offerResources(server, user);
  if (hasIndex) offerPrompts(server, user);
  offerCompletion(server, user);
  if (changes === "all")
    endWith(
      server,
      passOn(feed, server, () => true),
    );
  if (changes === "watched") sendWatched(server, user, feed);
  return server;
}

function endWith(server: Server, end: () => void): void {
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a Server is no EventTarget
  server.onclose = end;
}

/** The subscriptions of the 2025 revisions. A watched entry need not exist. */
function sendWatched(server: Server, user: ServedUser, feed: ChangeFeed): void {
  const watched = new WatchedResources(feed);
  const { subscriptionsMax } = mcpLimits;
  server.setRequestHandler("resources/subscribe", ({ params: { uri } }) => {
    known(user, uri);
    if (!watched.has(uri) && watched.size >= subscriptionsMax)
      throw invalidParams(
        `Cannot subscribe: the connection has ${watched.size} subscriptions, at most ${subscriptionsMax} allowed`,
      );
    watched.add(uri, [uri]);
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
    known(user, uri);
    watched.delete(uri);
    return {};
  });
  let end: (() => void) | null = null;
  // Sends each change only once, even if a hostile client repeats the handshake.
  server.oninitialized = () => {
    end?.();
    end = passOn(feed, server, (uri) => watched.has(uri));
  };
  endWith(server, () => {
    end?.();
    watched.close();
  });
}
