/** From a request of Node to one of the SDK. */
import type { IncomingMessage, ServerResponse } from "node:http";

import type { McpCall } from "./mcp-call.ts";
import type { RpcMessage } from "./read-body.ts";
import type { Identity } from "./verify-token.ts";

/** What the SDK reads. The token is not among them: nothing behind the checks gets to see it. */
const passedHeaders = ["accept", "content-type", "mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id"];

interface NodeExchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

export function callFrom({ req, res }: NodeExchange, message: RpcMessage | undefined, identity: Identity): McpCall {
  const headers = new Headers();
  for (const name of passedHeaders) {
    const value = req.headers[name];
    if (typeof value === "string") headers.set(name, value);
  }
  const sessionId = headers.get("mcp-session-id") ?? undefined;
  const signal = clientGone({ req, res });
  // The address is nobody's: what is asked for has been decided.
  const request = new Request("http://memcell.invalid/", { method: req.method ?? "", headers, signal });
  return { request, message, sessionId, tokenId: identity.tokenId, signal };
}

/**
 * Whoever does not wait for the answer any more does not want the call. An answer that waits for its turn on a connection is
 * not told that it is closed: the connection is asked too.
 */
function clientGone({ req: { socket }, res }: NodeExchange): AbortSignal {
  const gone = new AbortController();
  const onGone = (): void => gone.abort();
  if (res.destroyed || socket.destroyed) onGone();
  socket.once("close", onGone);
  res.once("close", () => {
    socket.off("close", onGone);
    if (!res.writableFinished) onGone();
  });
  return gone.signal;
}

/** When what an identity has opened ends. A timer of Node's runs for 24 days at most: a stream that old may begin anew. */
export function endOf({ endsAtMs }: Identity): Disposable & { readonly signal: AbortSignal } {
  const end = new AbortController();
  if (endsAtMs === null) return { signal: end.signal, [Symbol.dispose]: () => {} };
  const timer = setTimeout(() => end.abort(), Math.min(Math.max(0, endsAtMs - Date.now()), 2 ** 31 - 1));
  timer.unref();
  return { signal: end.signal, [Symbol.dispose]: () => clearTimeout(timer) };
}
