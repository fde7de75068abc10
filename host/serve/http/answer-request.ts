/** What happens to a request, from its first check to the last byte of its answer. Read it from top to bottom. */
import type { IncomingMessage, ServerResponse } from "node:http";

import type { Runtime } from "../../runtime/api.ts";
import type { HttpServeOptions } from "../serve-options.ts";
import type { Admission } from "./admission.ts";
import { callFrom, endOf } from "./call-from.ts";
import { checkHost } from "./host-header.ts";
import { isStanding } from "./mcp-call.ts";
import { checkOrigin, preflightHeaders } from "./origin.ts";
import { peerOf } from "./peer.ts";
import type { RateLimit } from "./rate-limit.ts";
import { declaredBytes, discardBody, readMessage } from "./read-body.ts";
import { RefusedRequest, refusalBody, refusals } from "./refusals.ts";
import { checkTarget } from "./request-target.ts";
import type { Targets } from "./request-target.ts";
import { resourceMetadata } from "./resource-metadata.ts";
import { sendResponse } from "./send-response.ts";
import { checkSingleHeaders } from "./single-headers.ts";
import type { UserEndpoints } from "./user-endpoints.ts";
import type { Identity } from "./verify-token.ts";

export interface AnsweringParts {
  readonly runtime: Runtime;
  readonly options: HttpServeOptions;
  readonly targets: Targets;
  readonly hostNames: ReadonlySet<string>;
  readonly origins: ReadonlySet<string>;
  readonly admission: Admission;
  readonly userRate: RateLimit;
  readonly endpoints: UserEndpoints;
  readonly isClosing: () => boolean;
  readonly onError: (error: unknown) => void;
}

export interface NodeRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** To be called for a stream: the end of the server does not wait for one. */
  readonly stands: () => void;
}

/** A request, and what is known of it so far. */
interface Exchange extends NodeRequest {
  readonly peer: string | undefined;
  /** Of every answer from here on. */
  headers: Readonly<Record<string, string>>;
  userId?: string;
}

/** Resolves when it has been answered or its client is gone. Never rejects. */
export async function answerRequest(request: NodeRequest, parts: AnsweringParts): Promise<void> {
  const headers = { "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" };
  const exchange: Exchange = { ...request, peer: peerOf(request.req.socket), headers };
  try {
    await checkAndAnswer(exchange, parts);
  } catch (error) {
    if (error instanceof RefusedRequest) refuse(error, exchange, parts);
    else fail(error, exchange, parts);
  }
}

async function checkAndAnswer(exchange: Exchange, parts: AnsweringParts): Promise<void> {
  const { req, peer } = exchange;
  const target = checkTarget(req.url ?? "", req.method ?? "", parts.targets);
  // Who watches over the server asks by its address, and learns one bit.
  if (target === "health") return sendText(exchange, 200, "ok\n");
  if (target === "readiness") return await sendReadiness(exchange, parts);
  if (parts.isClosing()) throw new RefusedRequest("closing", { headers: { Connection: "close" } });
  checkSingleHeaders(req.rawHeaders);
  checkHost(req.headers.host, parts.hostNames);
  exchange.headers = { ...exchange.headers, ...checkOrigin(req.headers.origin, parts.origins) };
  if (req.method === "OPTIONS") return sendPreflight(exchange);
  if (target === "metadata") return sendMetadata(exchange, parts);
  const identity = await parts.admission.identify(req.headers.authorization, peer);
  exchange.userId = identity.userId;
  await checkRate(parts.userRate, identity.userId);
  const endpoint = parts.endpoints.of(identity.userId);
  const place = endpoint.enter(declaredBytes(req, parts.options.bodyBytesMax));
  try {
    const message = req.method === "POST" ? await readMessage(req, parts.options.bodyBytesMax) : undefined;
    const call = callFrom({ req, res: exchange.res }, message, identity);
    if (isStanding(call)) exchange.stands();
    await endpoint.answer(call, (response) => send(response, exchange, { gone: call.signal, identity, parts }));
  } finally {
    place.leave();
  }
}

async function checkRate(rate: RateLimit, userId: string): Promise<void> {
  const waitS = await rate.count(userId);
  if (waitS > 0) throw new RefusedRequest("user-limited", { headers: { "Retry-After": String(waitS) } });
}

interface Answered {
  readonly gone: AbortSignal;
  readonly identity: Identity;
  readonly parts: AnsweringParts;
}

async function send(response: Response, exchange: Exchange, { gone, identity, parts }: Answered): Promise<void> {
  const { res, headers, peer, userId } = exchange;
  // The SDK says so of a request that was ended with the server.
  if (response.status === 499 && !res.destroyed)
    throw new RefusedRequest("closing", { headers: { Connection: "close" } });
  // What the SDK refuses is the client's mistake in MCP; that a session is not there would be an oracle if it told more.
  if (response.status >= 400)
    parts.runtime.refused({ surface: "http", reason: `mcp-${response.status}`, userId, peer });
  using end = endOf(identity);
  if ((await sendResponse(response, { res, headers, end: end.signal, gone })) === "stalled") {
    parts.runtime.refused({ surface: "http", reason: "answer-unread", userId, peer });
  }
}

function sendText({ res, headers }: Exchange, status: number, text: string): void {
  res.writeHead(status, { ...headers, "Content-Type": "text/plain", "Content-Length": Buffer.byteLength(text) });
  res.end(text);
}

async function sendReadiness(exchange: Exchange, { admission, isClosing }: AnsweringParts): Promise<void> {
  const isReady = !isClosing() && (await admission.isReady());
  sendText(exchange, isReady ? 200 : 503, isReady ? "ready\n" : "not ready\n");
}

/** A browser asks without a token whether its page may ask with one. Without a page there is nothing to ask for. */
function sendPreflight({ req, res, headers }: Exchange): void {
  if (req.headers.origin === undefined)
    throw new RefusedRequest("method-unknown", { headers: { Allow: "GET, POST, DELETE" } });
  res.writeHead(204, { ...headers, ...preflightHeaders });
  res.end();
}

function sendMetadata({ res, headers }: Exchange, { options }: AnsweringParts): void {
  const body = JSON.stringify(resourceMetadata(options));
  res.writeHead(200, { ...headers, "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) });
  res.end(body);
}

function refuse({ reason, headers, cause }: RefusedRequest, exchange: Exchange, parts: AnsweringParts): void {
  const { req, res, peer, userId } = exchange;
  parts.runtime.refused({ surface: "http", reason, userId, peer });
  if (reason === "keys-unavailable") parts.onError(cause);
  sendError(exchange, { status: refusals[reason].status, headers, body: refusalBody(reason) });
  discardBody(req, parts.options.bodyBytesMax);
  if (reason === "body-cut") res.destroy();
}

/** Nothing of what went wrong inside is the client's business. */
function fail(error: unknown, exchange: Exchange, parts: AnsweringParts): void {
  parts.onError(error);
  const body = JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32_603, message: "Internal error" } });
  sendError(exchange, { status: 500, headers: {}, body });
  discardBody(exchange.req, parts.options.bodyBytesMax);
}

interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function sendError({ res, headers }: Exchange, { status, body, ...error }: ErrorAnswer): void {
  // An answer that has begun cannot become another.
  if (res.headersSent) return void res.destroy();
  const all = { ...headers, ...error.headers, "Content-Type": "application/json" };
  res.writeHead(status, { ...all, "Content-Length": Buffer.byteLength(body) });
  res.end(body);
}
