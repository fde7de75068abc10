/** A request that has passed the checks, and how it is made: from one of Node to one of the SDK. */
import type { IncomingMessage, ServerResponse } from "node:http";

import type { Runtime } from "../../runtime/api.ts";
import type { ChangeFeed } from "../mcp/change-feed.ts";
import type { RpcMessage } from "./read-body.ts";
import type { Identity } from "./verify-token.ts";

/** As the SDK takes it: without the token, and without what else the client sent. */
export interface McpCall {
  readonly request: Request;
  /** `undefined` for a request without a body. */
  readonly message: RpcMessage | undefined;
  readonly sessionId: string | undefined;
  /** The token's name, for the audit log. */
  readonly tokenId: string | null;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
}

/** What is made for a user is made from this. */
export interface UserParts {
  readonly runtime: Runtime;
  readonly userId: string;
  readonly feed: ChangeFeed;
  readonly onError: (error: Error) => void;
}

interface NodeExchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

/** What the SDK reads. The token is not among them: nothing behind the checks gets to see it. */
const passedHeaders = ["accept", "content-type", "mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id"];

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

/** What the SDK is told of whoever asks, with each request: the name of the token, and nothing that would admit anybody. */
export function authOf({ tokenId }: Pick<McpCall, "tokenId">) {
  return tokenId === null ? {} : { authInfo: { token: "", clientId: "", scopes: [], extra: { tokenId } } };
}

/** A stream that stays open until one of both sides ends it: of changes, in either revision. */
export function isStanding({ request, message }: Pick<McpCall, "request" | "message">): boolean {
  return request.method === "GET" || message?.method === "subscriptions/listen";
}
