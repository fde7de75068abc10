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

/** A request for the SDK, without the token and without other headers of the client. */
export interface McpCall {
  readonly request: Request;
  /** `undefined` for a request without a body. */
  readonly message: RpcMessage | undefined;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
  /** By this request's own token, as is its access. */
  readonly labels: Admitted["labels"];
  readonly access: RequestAccess;
  readonly client: KnownClient;
  /** Records a refusal. */
  readonly record: (reason: string) => void;
}

/** The parts that a user's endpoint and servers are made from. */
export interface UserParts {
  readonly runtime: Runtime;
  readonly userId: string;
  readonly feed: ChangeFeed;
  readonly onError: (error: Error) => void;
  /** The address of the page; `null` if there is none. */
  readonly pageUrl: string | null;
}

/** The headers of the client that the SDK reads. No code after the checks gets the token. */
const passedHeaders = ["mcp-method", "mcp-name", "mcp-protocol-version"];

/** The body's type was checked. Every client gets JSON, whatever it accepts, unless it asks for a stream of changes. */
const ownHeaders = { accept: "application/json, text/event-stream", "content-type": "application/json" };

export function callFrom(
  { req, res, record }: NodeExchange & Pick<McpCall, "record">,
  message: RpcMessage | undefined,
  identity: Admitted,
): McpCall {
  const headers = new Headers(ownHeaders);
  for (const name of passedHeaders) {
    const value = req.headers[name];
    if (typeof value === "string") headers.set(name, value);
  }
  const signal = clientGone({ req, res });
  // A dummy address: the target is already decided.
  const request = new Request("http://memcell.invalid/", { method: req.method ?? "", headers, signal });
  const { labels, access, client, originClass } = identity;
  return { request, message, labels, access, client: { client, originClass, connection: null }, signal, record };
}

/** Makes a user's server for one request, with what this request's own token allows. */
export function serverFor(
  { runtime, userId, feed, pageUrl }: UserParts,
  { labels, access, client }: McpCall,
  changes: SentChanges,
): Server {
  return makeUserServer({
    runtime: access === "write" ? runtime : runtime.asReadOnly(),
    userId,
    labels: { via: "mcp-http", ...labels },
    client,
    page: pageUrl === null ? null : { url: pageUrl },
    feed,
    changes,
  });
}

/** Whether a request opens a stream of changes, which stays open until one side ends it. */
export const isStanding = ({ message }: Pick<McpCall, "message">): boolean =>
  message?.method === "subscriptions/listen";
