import type { Runtime } from "../../runtime/api.ts";
import type { ChangeFeed } from "../mcp/change-feed.ts";
import type { RpcMessage } from "./read-body.ts";

/** A request that has passed the checks, as the SDK takes it: without the token, and without what else the client sent. */
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

/** What the SDK is told of whoever asks, with each request: the name of the token, and nothing that would admit anybody. */
export function authOf({ tokenId }: Pick<McpCall, "tokenId">) {
  return tokenId === null ? {} : { authInfo: { token: "", clientId: "", scopes: [], extra: { tokenId } } };
}

/** What is made for a user is made from this. */
export interface UserParts {
  readonly runtime: Runtime;
  readonly userId: string;
  readonly feed: ChangeFeed;
  readonly onError: (error: Error) => void;
}

/** A stream that stays open until one of both sides ends it: of changes, in either revision. */
export function isStanding({ request, message }: Pick<McpCall, "request" | "message">): boolean {
  return request.method === "GET" || message?.method === "subscriptions/listen";
}
