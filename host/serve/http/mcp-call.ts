/** A request that has passed the checks, converted from Node's form to the SDK's. */
import type { Runtime } from "../../runtime/api.ts";
import type { ChangeFeed } from "../mcp/change-feed.ts";
import type { Server } from "../mcp/sdk.ts";
import { makeUserServer } from "../mcp/user-server.ts";
import { clientGone } from "./client-gone.ts";
import type { NodeExchange } from "./client-gone.ts";
import type { RpcMessage } from "./read-body.ts";
import type { RequestAccess } from "./token-scope.ts";
import type { Admitted } from "./verify-token.ts";

/** A request for the SDK, without the token and without other headers of the client. */
export interface McpCall {
  readonly request: Request;
  /** `undefined` for a request without a body. */
  readonly message: RpcMessage | undefined;
  readonly sessionId: string | undefined;
  /** The token's id (`jti`), for the audit log. */
  readonly tokenId: string | null;
  readonly access: RequestAccess;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
}

/** The parts that a user's endpoint, sessions and servers are made from. */
export interface UserParts {
  readonly runtime: Runtime;
  readonly userId: string;
  readonly feed: ChangeFeed;
  readonly onError: (error: Error) => void;
}

/** The headers that the SDK reads. No code after the checks gets the token. */
const passedHeaders = ["accept", "content-type", "mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id"];

export function callFrom({ req, res }: NodeExchange, message: RpcMessage | undefined, identity: Admitted): McpCall {
  const headers = new Headers();
  for (const name of passedHeaders) {
    const value = req.headers[name];
    if (typeof value === "string") headers.set(name, value);
  }
  const sessionId = headers.get("mcp-session-id") ?? undefined;
  const signal = clientGone({ req, res });
  // A dummy address: the target is already decided.
  const request = new Request("http://memcell.invalid/", { method: req.method ?? "", headers, signal });
  const { tokenId, access } = identity;
  return { request, message, sessionId, tokenId, access, signal };
}

/** The SDK's information about the sender of a request: its access and the token's id, but not the token itself. */
export function authOf({ tokenId, access }: Pick<McpCall, "tokenId" | "access">): { authInfo: SenderInfo } {
  const extra = { access, ...(tokenId !== null && { tokenId }) };
  return { authInfo: { token: "", clientId: "", scopes: [], extra } };
}

/** As the SDK passes it on. */
interface SenderInfo {
  readonly token: string;
  readonly clientId: string;
  readonly scopes: string[];
  readonly extra?: Record<string, unknown>;
}

/** Whether a request may change something. One that does not say so may not. */
export const mayWrite = ({ authInfo }: { readonly authInfo?: Pick<SenderInfo, "extra"> | undefined } = {}): boolean =>
  authInfo?.extra?.["access"] === "write";

/** Makes a user's server, each of whose requests may do what its own token allows. `isWriter`: see `makeUserServer`. */
export function serverFor(
  { runtime, userId, feed }: UserParts,
  session: Readonly<Record<string, string>>,
  isWriter: boolean,
): Server {
  const labels = { via: "mcp-http", ...session };
  return makeUserServer({ runtime, userId, labels, feed, isWriter, mayWrite: ({ http }) => mayWrite(http) });
}

/** Whether a request opens a change stream, in either revision. It stays open until one side ends it. */
export function isStanding({ request, message }: Pick<McpCall, "request" | "message">): boolean {
  return request.method === "GET" || message?.method === "subscriptions/listen";
}
