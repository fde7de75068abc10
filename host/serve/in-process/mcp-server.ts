/** The public API of `memcell/mcp`: a user's MCP server inside the embedding program. */
import type { OriginClass } from "../../../shared/origin.ts";
import type { Runtime } from "../../runtime/api.ts";
import type { CallContext } from "../../values/call-context.ts";
import { ChangeFeed } from "../mcp/change-feed.ts";
import type { KnownClient } from "../mcp/client-origin.ts";
import { mcpLimits } from "../mcp/mcp-limits.ts";
import { serveStdio } from "../mcp/sdk.ts";
import type { Transport } from "../mcp/sdk.ts";
import { makeUserServer } from "../mcp/user-server.ts";
import { withoutNulls } from "../mcp/without-nulls.ts";
import { ListenedResources } from "../stdio/listened-resources.ts";

/** What frameworks call. */
export interface ConnectedServer {
  /** Serves one client, in the revision that it begins with. Can be called for any number of clients. */
  connect(transport: AnyTransport): Promise<void>;
  /** Ends all connections. The runtime stays open. */
  close(): Promise<void>;
}

/** A transport of SDK 1 or 2, whose types of messages differ. */
export interface AnyTransport {
  start(): Promise<void>;
  send(message: never, options?: never): Promise<void>;
  close(): Promise<void>;
}

/**
 * Makes an MCP server of one user's memory, for frameworks that take a server in the same process: the Claude Agent SDK, or
 * any client over `InMemoryTransport.createLinkedPair()`. It offers what `memcell serve` offers: tools, the index, entries,
 * prompts and changes. Needs no child process, port or token.
 *
 * Every call is made for `ctx.userId`; no message of a client can change that. `ctx.labels` are in each record.
 * `ctx.origin.class` is the most that a client's texts are trusted (default: `unstated`), and `ctx.origin.run` is the run of
 * all its calls (default: a connection is one). `ctx.exposedTo` counts for each call. `ctx.signal` ends all connections.
 *
 * The result has the type that is expected where it is used, because SDKs name a class of their own there.
 * Throws a `ToolError` with `USER_INVALID` for a user id that no user can have.
 *
 * @example
 * const memory = { type: "sdk", name: "memory", instance: mcpServer(runtime, { userId: "alice" }) };
 * for await (const message of query({ prompt, options: { mcpServers: { memory } } })) console.log(message);
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- `instance: McpServer` of an SDK has private fields
export function mcpServer<Server = ConnectedServer>(runtime: Runtime, ctx: CallContext): Server {
  return new InProcessServer(runtime, ctx) as Server;
}

class InProcessServer implements ConnectedServer {
  readonly #runtime: Runtime;
  readonly #ctx: CallContext;
  readonly #ends = new Set<() => Promise<void>>();

  constructor(runtime: Runtime, ctx: CallContext) {
    // Fails at once for an unfit user.
    new ChangeFeed(runtime, ctx.userId).close();
    this.#runtime = runtime;
    this.#ctx = { ...ctx };
    ctx.signal?.addEventListener("abort", () => void this.close(), { once: true });
  }

  connect(transport: AnyTransport): Promise<void> {
    const { userId, labels = {} } = this.#ctx;
    const feed = new ChangeFeed(this.#runtime, userId);
    const client = knownClient(this.#ctx);
    const parts = { runtime: this.#runtime, userId, labels: { via: "mcp-in-process", ...labels }, feed };
    const end = async (): Promise<void> => {
      this.#ends.delete(end);
      feed.close();
      await connection.close();
    };
    const connection = serveStdio(
      ({ era }) => makeUserServer({ ...parts, client, changes: era === "modern" ? "all" : "watched" }),
      {
        transport: listening(transport, new ListenedResources(feed), end),
        maxSubscriptions: mcpLimits.listensMax,
      },
    );
    this.#ends.add(end);
    return Promise.resolve();
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#ends, (end) => end()));
  }
}

/** The program vouches for its client. */
function knownClient({ origin, exposedTo = [] }: CallContext): KnownClient {
  const originClass: OriginClass = origin?.class ?? "unstated";
  return { originClass, client: null, connection: crypto.randomUUID(), run: origin?.run, exposedTo };
}

/** A transport whose messages are noted, and that tells of its end. */
function listening(transport: Transport, listened: ListenedResources, end: () => Promise<void>): Transport {
  const wire: Transport = {
    start: async () => {
      // oxlint-disable unicorn/prefer-add-event-listener -- a transport is no EventTarget
      transport.onmessage = (sent, extra) => {
        const message = withoutNulls(sent);
        listened.read(message);
        wire.onmessage?.(message, extra);
      };
      transport.onclose = () => {
        wire.onclose?.();
        void end();
      };
      transport.onerror = (error) => wire.onerror?.(error);
      // oxlint-enable unicorn/prefer-add-event-listener
      await transport.start();
    },
    send: (message, options) => {
      listened.sent(message);
      return transport.send(message, options);
    },
    close: () => transport.close(),
  };
  return wire;
}
