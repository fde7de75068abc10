/** A request that has passed the checks, converted from Node's form to the SDK's. */
import type { Runtime } from "../../runtime/api.ts";
import type { ChangeFeed } from "../mcp/change-feed.ts";
import type { KnownClient } from "../mcp/client-origin.ts";
import type { Server } from "../mcp/sdk.ts";
import { makeUserServer } from "../mcp/user-server.ts";
import type { SentChanges } from "../mcp/user-server.ts";
import { clientGone } from "./client-gone.ts";
import type { NodeExchange } from "./client-gone.ts";
import type { RpcMessage } from "./read-body.ts";
import type { RequestAccess } from "./token-scope.ts";
import type { Admitted } from "./verify-token.ts";

/** Who sends a request, by the token of this request. */
interface Sender {
  /** The token's id (`jti`), for the audit log. */
  readonly tokenId: string | null;
  readonly access: RequestAccess;
  readonly client: KnownClient;
}

/** A request for the SDK, without the token and without other headers of the client. */
export interface McpCall extends Sender {
  readonly request: Request;
  /** `undefined` for a request without a body. */
  readonly message: RpcMessage | undefined;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
}

/** The parts that a user's endpoint and servers are made from. */
export interface UserParts {
  readonly runtime: Runtime;
  readonly userId: string;
  readonly feed: ChangeFeed;
  readonly onError: (error: Error) => void;
}

/** The headers of the client that the SDK reads. No code after the checks gets the token. */
const passedHeaders = ["mcp-method", "mcp-name", "mcp-protocol-version"];

/** The body's type was checked. Every client gets JSON, whatever it accepts, unless it asks for a stream of changes. */
const ownHeaders = { accept: "application/json, text/event-stream", "content-type": "application/json" };

export function callFrom({ req, res }: NodeExchange, message: RpcMessage | undefined, identity: Admitted): McpCall {
  const headers = new Headers(ownHeaders);
  for (const name of passedHeaders) {
    const value = req.headers[name];
    if (typeof value === "string") headers.set(name, value);
  }
  const signal = clientGone({ req, res });
  // A dummy address: the target is already decided.
  const request = new Request("http://memcell.invalid/", { method: req.method ?? "", headers, signal });
  const { tokenId, access, client, originClass } = identity;
  return { request, message, tokenId, access, client: { client, originClass, connection: null }, signal };
}

/** What the SDK passes on of a request's sender: not the token. */
interface PassedOn {
  readonly authInfo: { token: string; clientId: string; scopes: string[]; extra: Record<string, unknown> };
}

export function authOf({ tokenId, access, client }: Sender): PassedOn {
  return { authInfo: { token: "", clientId: "", scopes: [], extra: { sender: { tokenId, access, client } } } };
}

/** A sender that nothing names may change nothing, and is trusted least. */
export const senderOf = ({ authInfo }: { readonly authInfo?: { readonly extra?: object } }): Sender =>
  (Reflect.get(authInfo?.extra ?? {}, "sender") as Sender | undefined) ?? nobody;

const nobody: Sender = {
  tokenId: null,
  access: "read",
  client: { originClass: "untrusted_document", client: null, connection: null },
};

/** Makes a user's server for one request of this sender. */
export function serverFor({ runtime, userId, feed }: UserParts, sender: Sender, changes: SentChanges): Server {
  const { tokenId, access, client } = sender;
  return makeUserServer({
    runtime: access === "write" ? runtime : runtime.asReadOnly(),
    userId,
    labels: { via: "mcp-http", ...(tokenId !== null && { token: tokenId }) },
    client,
    feed,
    changes,
  });
}

/** Whether a request opens a stream of changes, which stays open until one side ends it. */
export const isStanding = ({ message }: Pick<McpCall, "message">): boolean =>
  message?.method === "subscriptions/listen";
