/** One user's MCP server: tools and, if there is a memory, its index and entries. */
import type { Runtime } from "../../runtime/api.ts";
import { version } from "../../values/version.ts";
import type { ChangeFeed } from "./change-feed.ts";
import { mcpLimits } from "./mcp-limits.ts";
import { indexUri } from "./memory-uri.ts";
import { whereToSee } from "./owners-page.ts";
import type { OwnersPage } from "./owners-page.ts";
import { offerPrompts, promptName } from "./prompts.ts";
import { invalidParams } from "./protocol-failure.ts";
import { offerCompletion, known, offerResources } from "./resources.ts";
import type { ServerCapabilities, Transport } from "./sdk.ts";
import { ProtocolErrorCode, Server, isJSONRPCErrorResponse } from "./sdk.ts";
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
  const instructions = instructionsFor(runtime, options.page ?? null);
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

/** The instructions of a server: the plugins' own words, then where MCP and people have what is remembered. Can be empty. */
function instructionsFor(runtime: Pick<Runtime, "families" | "instructions">, page: OwnersPage | null): string {
  const said = [runtime.instructions(), whereToLook(runtime)].filter((text) => text !== "");
  if (said.length > 0 && page !== null) said.push(whereToSee(page));
  return said.join("\n");
}

function whereToLook(runtime: Pick<Runtime, "families">): string {
  const families = runtime.families();
  if (families.some(({ hasIndex }) => hasIndex))
    return `Before you answer or write, read the resource ${indexUri} (or the prompt ${promptName}): it lists what is remembered.`;
  return families.some(({ hasEntries, canRead }) => hasEntries && canRead)
    ? "The list of resources has what is remembered."
    : "";
}

/** The recorded reason for each error code of requests that called nothing. */
const reasons: Readonly<Record<number, string>> = {
  [ProtocolErrorCode.MethodNotFound]: "method-unknown",
  [ProtocolErrorCode.InvalidParams]: "params-unfit",
  // The SDK uses this code for invalid parameters of some methods.
  [ProtocolErrorCode.InternalError]: "params-unfit",
};

/**
 * A server that reports the requests it refused itself: unknown methods, and invalid parameters, cursors and prompts.
 * Errors with data are already recorded where they arise: in a call, or in the lookup of a resource.
 */
class RecordingServer extends Server {
  onRefused: (reason: string) => void = () => {};

  override async connect(transport: Transport): Promise<void> {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
      const { code, data } = isJSONRPCErrorResponse(message) ? message.error : {};
      const reason = code === undefined || data !== undefined ? undefined : reasons[code];
      if (reason !== undefined) this.onRefused(reason);
      return send(message, options);
    };
    await super.connect(transport);
  }
}
