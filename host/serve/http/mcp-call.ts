/** A request that has passed the checks, converted from Node's form to the SDK's. */
import type { Runtime } from "../../runtime/api.ts";
import type { ChangeFeed } from "../mcp/change-feed.ts";
import type { KnownClient } from "../mcp/client-origin.ts";
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
  readonly client: VerifiedClient;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
}

/** What a verified token says of a client. A session is not verified by it. */
type VerifiedClient = Omit<KnownClient, "session">;

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
  const { tokenId, access, client, originClass } = identity;
  return { request, message, sessionId, tokenId, access, client: { client, originClass }, signal };
}

/** The SDK's information about the sender of a request: its access, its client, the token's id, but not the token itself. */
export function authOf({ tokenId, access, client }: Pick<McpCall, "tokenId" | "access" | "client">): SenderAuth {
  const extra = { access, client, ...(tokenId !== null && { tokenId }) };
  return { authInfo: { token: "", clientId: "", scopes: [], extra } };
}

interface SenderAuth {
  readonly authInfo: SenderInfo;
}

/** As the SDK passes it on. */
interface SenderInfo {
  readonly token: string;
  readonly clientId: string;
  readonly scopes: string[];
  readonly extra?: Record<string, unknown>;
}

interface Sender {
  readonly authInfo?: Pick<SenderInfo, "extra"> | undefined;
}

/** Whether a request may change something. One that does not say so may not. */
export const mayWrite = ({ authInfo }: Sender = {}): boolean => authInfo?.extra?.["access"] === "write";

/** The client of a request. One that does not say is trusted least. */
const clientOf = ({ authInfo }: Sender = {}): VerifiedClient =>
  (authInfo?.extra?.["client"] as VerifiedClient | undefined) ?? { originClass: "untrusted_document", client: null };

/**
 * Makes a user's server, each of whose requests may do what its own token allows. `session`: the id of the session that
 * it serves, or `null`. `isWriter`: see `makeUserServer`.
 */
export function serverFor({ runtime, userId, feed }: UserParts, session: string | null, isWriter: boolean): Server {
  return makeUserServer({
    runtime,
    userId,
    labels: { via: "mcp-http", ...(session !== null && { session: session.slice(0, 8) }) },
    feed,
    isWriter,
    clientOf: ({ http }) => ({ ...clientOf(http), session }),
    mayWrite: ({ http }) => mayWrite(http),
  });
}

/** Whether a request opens a change stream, in either revision. It stays open until one side ends it. */
export function isStanding({ request, message }: Pick<McpCall, "request" | "message">): boolean {
  return request.method === "GET" || message?.method === "subscriptions/listen";
}
