/** The public API of `memcell/mcp`: a user's MCP server inside the embedding program. */
import type { Runtime } from "../../runtime/api.ts";
import { checkContext, readContext } from "../../values/call-context.ts";
import type { CallContext, CheckedContext, Labels } from "../../values/call-context.ts";
import { ToolError } from "../../values/tool-error.ts";
import { serveConnection } from "../mcp/serve-connection.ts";
import type { ServedConnection } from "../mcp/serve-connection.ts";

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
 * all its calls (default: a connection is one). `ctx.exposedTo` and `ctx.stores` count for each call. `ctx.signal` ends all
 * connections. Each call has an id of its own, whatever `ctx.callId` says.
 *
 * The result has the type that is expected where it is used, because SDKs name a class of their own there.
 * Throws a `ToolError` with `USER_REQUIRED`, `USER_INVALID` or `INPUT_INVALID` for a context that no call could have.
 * `connect` rejects with `CLOSED` after the end.
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
  readonly #ctx: CheckedContext;
  readonly #labels: Labels;
  readonly #connections = new Set<ServedConnection>();
  #isClosed = false;

  constructor(runtime: Runtime, ctx: CallContext) {
    this.#runtime = runtime;
    this.#ctx = checkContext(readContext(ctx), "make an MCP server");
    this.#labels = { via: "mcp-in-process", ...ctx.labels };
    // What a transport throws at its end would end the program.
    this.#ctx.signal?.addEventListener("abort", () => void this.close().catch(() => null), { once: true });
  }

  connect(transport: AnyTransport): Promise<void> {
    const { userId, signal, stores, origin } = this.#ctx;
    if (this.#isClosed || signal?.aborted === true) {
      return Promise.reject(new ToolError("CLOSED", "Cannot connect: the MCP server is closed"));
    }
    // The program vouches for its client.
    const { class: originClass, exposedTo, run } = origin;
    const client = { originClass, client: null, connection: crypto.randomUUID(), run: run ?? undefined, exposedTo };
    const parts = { runtime: this.#runtime, userId, labels: this.#labels, stores, client };
    this.#connections.add(
      serveConnection({ ...parts, transport, onClose: (closed) => this.#connections.delete(closed) }),
    );
    return Promise.resolve();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(Array.from(this.#connections, (connection) => connection.close()));
  }
}
