/** The steps of a request, in order, from its first check to the last byte of its answer. */
import type { IncomingMessage } from "node:http";

import { html } from "../../markup/markup.ts";
import type { Runtime } from "../../runtime/api.ts";
import type { RateLimit } from "../../values/rate-limit.ts";
import { originOfRequest } from "../mcp/client-origin.ts";
import { answerPage } from "../page/answer-page.ts";
import type { PageParts } from "../page/answer-page.ts";
import { barePage } from "../page/frame.ts";
import type { PageAnswer } from "../page/page-request.ts";
import type { HttpServeOptions } from "../serve-options.ts";
import { answerStorage } from "../storage/answer-storage.ts";
import type { StorageAnswer } from "../storage/storage-answer.ts";
import { StorageRefusal } from "../storage/storage-refusal.ts";
import type { Admission, Credentials } from "./admission.ts";
import {
  bodyFormAt,
  checkHost,
  checkOrigin,
  checkSingleHeaders,
  checkTarget,
  preflightHeaders,
} from "./check-request.ts";
import type { PageAddress, StorageAddress, Target, Targets } from "./check-request.ts";
import { clientGone } from "./client-gone.ts";
import type { NodeExchange } from "./client-gone.ts";
import { callFrom, isStanding } from "./mcp-call.ts";
import { peerKey, peerOf } from "./peer.ts";
import { declaredBytes, discardBody, hasBody, readForm, readJson, readMessages } from "./read-body.ts";
import { RefusedRequest, errorBody, refusals } from "./refusals.ts";
import type { BodyForm, RefusalAnswer } from "./refusals.ts";
import { resourceMetadata } from "./resource-metadata.ts";
import { sendBody, sendResponse } from "./send-answer.ts";
import type { Sending } from "./send-answer.ts";
import { checkScope } from "./token-scope.ts";
import type { RequestAccess } from "./token-scope.ts";
import { endedStatus } from "./user-endpoint.ts";
import type { UserEndpoint, UserEndpoints } from "./user-endpoint.ts";
import type { Admitted, Identity } from "./verify-token.ts";

export interface AnsweringParts {
  readonly runtime: Runtime;
  readonly options: HttpServeOptions;
  readonly targets: Targets;
  readonly hostNames: ReadonlySet<string>;
  readonly origins: ReadonlySet<string>;
  readonly admission: Admission;
  readonly userRate: RateLimit;
  readonly endpoints: UserEndpoints;
  /** `null`: there is none. */
  readonly page: PageParts | null;
  readonly isClosing: () => boolean;
  readonly onError: (error: unknown) => void;
}

interface NodeRequest extends NodeExchange {
  /** Call it for a stream: a closing server does not wait for streams. */
  readonly stands: () => void;
}

/** A request, and what is known about it so far. */
interface Exchange extends NodeRequest {
  readonly parts: AnsweringParts;
  readonly peer: string | undefined;
  /** The headers of every answer from now on. */
  headers: Readonly<Record<string, string>>;
  userId?: string;
  readonly bodyForm: BodyForm;
  /** Records a refusal. */
  readonly record: (reason: string) => void;
}

/** Resolves when the request is answered or its client is gone. Never rejects. */
export async function answerRequest(request: NodeRequest, parts: AnsweringParts): Promise<void> {
  const headers = { "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" };
  const bodyForm = bodyFormAt(request.req.url ?? "", parts.targets);
  const peer = peerOf(request.req.socket);
  const record = (reason: string): void =>
    parts.runtime.refused({ surface: "http", reason, userId: exchange.userId, peer });
  const exchange: Exchange = { ...request, parts, peer, headers, bodyForm, record };
  try {
    await checkAndAnswer(exchange, parts);
  } catch (error) {
    if (error instanceof RefusedRequest) refuse(error, exchange);
    else fail(error, exchange);
  }
}

async function checkAndAnswer(exchange: Exchange, parts: AnsweringParts): Promise<void> {
  const { req, peer } = exchange;
  const target = checkTarget(req.url ?? "", req.method ?? "", parts.targets);
  // Monitoring uses the server's address, so this comes before the host check. It reveals only one bit.
  if (target.kind === "health") return sendText(exchange, 200, "ok\n");
  if (target.kind === "readiness") return await sendReadiness(exchange);
  if (parts.isClosing()) throw closing();
  checkSingleHeaders(req.rawHeaders);
  checkHost(req.headers.host, parts.hostNames);
  // It takes forms of its own pages alone, and no token.
  if (target.kind === "page") return await answerPageRequest(target, exchange);
  exchange.headers = { ...exchange.headers, ...checkOrigin(req.headers.origin, parts.origins) };
  if (req.method === "OPTIONS") return sendPreflight(exchange);
  if (target.kind === "metadata") return sendJson(exchange, 200, JSON.stringify(resourceMetadata(parts.options)));
  const identity = await parts.admission.identify(credentialsOf(req, target), peer);
  exchange.userId = identity.userId;
  countRequests(1, identity, parts);
  const access = checkScope(identity.access, accessNeeded(target, req.method ?? ""), parts.options);
  const admitted = { ...identity, access, originClass: identity.originClass ?? parts.options.originClass };
  const endpoint = parts.endpoints.of(identity.userId);
  const bodyBytes = declaredBytes(req, parts.options.bodyBytesMax);
  endpoint.enter(bodyBytes);
  try {
    if (target.kind === "storage") return await answerStorageRequest(target, exchange, admitted);
    await answerMcpRequest(exchange, admitted);
  } finally {
    endpoint.leave(bodyBytes);
  }
}

async function answerMcpRequest(exchange: Exchange, identity: Admitted): Promise<void> {
  const { req, res, parts } = exchange;
  if (asksForStream(req)) {
    exchange.headers = { ...exchange.headers, Allow: "POST" };
    return sendText(exchange, 405, "");
  }
  const read = req.method === "POST" ? await readMessages(req, parts.options.bodyBytesMax) : undefined;
  const [message, ...more] = [read].flat();
  const call = callFrom(exchange, message, identity);
  const endpoint = parts.endpoints.of(identity.userId);
  const answer = async (response: Response): Promise<void> => {
    if (response.status === endedStatus && !res.destroyed) throw closing();
    await send(response, exchange, { gone: call.signal, endsAtMs: identity.endsAtMs });
  };
  if (Array.isArray(read)) {
    countRequests(more.length, identity, parts);
    return await endpoint.answerBatch(call, read, answer);
  }
  if (isStanding(call)) exchange.stands();
  await endpoint.answer(call, answer);
}

/** As every client of 2025 does once: that there is no stream is an answer. A refusal would be in the log of each. */
function asksForStream({ method, headers }: IncomingMessage): boolean {
  const more = ["content-length", "transfer-encoding", "mcp-session-id", "last-event-id"];
  return method === "GET" && more.every((name) => headers[name] === undefined);
}

function countRequests(times: number, { userId }: Pick<Identity, "userId">, { userRate }: AnsweringParts): void {
  const waits = Array.from({ length: times }, () => userRate.count(userId));
  const waitS = waits.at(-1) ?? 0;
  if (waitS > 0) throw new RefusedRequest("user-limited", { headers: { "Retry-After": String(waitS) } });
}

/** Only the storage routes read `X-API-Key`. */
function credentialsOf({ headers }: IncomingMessage, { kind }: Target): Credentials {
  // The header occurs at most once, so it is no list.
  const apiKey = kind === "storage" ? headers["x-api-key"]?.toString() : undefined;
  return { authorization: headers.authorization, apiKey };
}

/** What a storage request needs follows from its method. An MCP request gets the tools that its access allows. */
function accessNeeded({ kind }: Target, method: string): RequestAccess {
  return kind === "storage" && method !== "GET" ? "write" : "read";
}

async function answerStorageRequest(target: StorageAddress, exchange: Exchange, identity: Admitted): Promise<void> {
  const { req, res, parts } = exchange;
  const gone = clientGone({ req, res });
  const response = await storageResponse({ req, target, identity, gone, record: exchange.record }, parts);
  await send(response, exchange, { gone, endsAtMs: null });
}

async function answerPageRequest({ names, query }: PageAddress, exchange: Exchange): Promise<void> {
  const { req, res, parts, record } = exchange;
  if (parts.page === null) throw new TypeError("There is no page");
  const gone = clientGone({ req, res });
  const bodyBytes = declaredBytes(req, parts.options.bodyBytesMax);
  const entered: UserEndpoint[] = [];
  const admit = (userId: string): void => {
    exchange.userId = userId;
    countRequests(1, { userId }, parts);
    const endpoint = parts.endpoints.of(userId);
    endpoint.enter(bodyBytes);
    entered.push(endpoint);
  };
  const read = (bytesMax: number): ReturnType<typeof readForm> =>
    readForm(req, Math.min(bytesMax, parts.options.bodyBytesMax));
  const request = {
    method: req.method ?? "",
    peer: peerKey(exchange.peer),
    names,
    query,
    headers: req.headers,
    readForm: read,
    gone,
    admit,
    record,
  };
  try {
    await sendPage(await answerPage(request, parts.page), exchange, gone);
  } finally {
    for (const endpoint of entered) endpoint.leave(bodyBytes);
  }
}

async function sendPage({ status, headers, body }: PageAnswer, exchange: Exchange, gone: AbortSignal): Promise<void> {
  const { req, res } = exchange;
  discardBody(req, exchange.parts.options.bodyBytesMax);
  const how = await sendBody({ status, headers: { ...exchange.headers, ...headers }, body }, { res, gone });
  if (how === "stalled") exchange.record("answer-unread");
}

const closing = (): RefusedRequest => new RefusedRequest("closing", { headers: { Connection: "close" } });

async function send(response: Response, exchange: Exchange, until: Pick<Sending, "gone" | "endsAtMs">): Promise<void> {
  const { res, headers } = exchange;
  const how = await sendResponse(response, { res, headers, ...until });
  if (how === "stalled") exchange.record("answer-unread");
}

function sendText({ res, headers }: Exchange, status: number, text: string, type = "text/plain"): void {
  res.writeHead(status, { ...headers, "Content-Type": type, "Content-Length": Buffer.byteLength(text) });
  res.end(text);
}

function sendJson(exchange: Exchange, status: number, json: string): void {
  sendText(exchange, status, json, "application/json");
}

async function sendReadiness(exchange: Exchange): Promise<void> {
  const { admission, isClosing } = exchange.parts;
  const isReady = !isClosing() && (await admission.isReady());
  sendText(exchange, isReady ? 200 : 503, isReady ? "ready\n" : "not ready\n");
}

/** Answers a browser's preflight, which has no token. A request without an origin is not a preflight. */
function sendPreflight({ req, res, headers }: Exchange): void {
  if (req.headers.origin === undefined)
    throw new RefusedRequest("method-unknown", { headers: { Allow: "GET, POST, DELETE" } });
  res.writeHead(204, { ...headers, ...preflightHeaders });
  res.end();
}

function refuse({ reason, headers, cause }: RefusedRequest, exchange: Exchange): void {
  exchange.record(reason);
  if (reason === "keys-unavailable" || reason === "token-audience-missing") exchange.parts.onError(cause);
  exchange.headers = { ...exchange.headers, ...headers };
  sendError(exchange, refusals[reason]);
  if (reason === "body-cut") exchange.res.destroy();
}

/** Answers without details of the internal error. */
function fail(error: unknown, exchange: Exchange): void {
  exchange.parts.onError(error);
  sendError(exchange, { status: 500, code: -32_603, message: "Internal error" });
}

function sendError(exchange: Exchange, { status, ...error }: RefusalAnswer): void {
  // An answer that has begun cannot be replaced.
  if (exchange.res.headersSent) exchange.res.destroy();
  else if (exchange.bodyForm === "page") sendRefusedPage(exchange, status, error.message);
  else sendJson(exchange, status, errorBody(error, exchange.bodyForm));
  discardBody(exchange.req, exchange.parts.options.bodyBytesMax);
}

function sendRefusedPage(exchange: Exchange, status: number, message: string): void {
  const { headers, body } = barePage({ title: "Nothing to see", status, body: html`<p>${message}.</p>` });
  exchange.headers = { ...exchange.headers, ...(headers as typeof exchange.headers) };
  sendText(exchange, status, body as string, "text/html; charset=utf-8");
}

interface StorageCall {
  readonly req: IncomingMessage;
  readonly target: StorageAddress;
  readonly identity: Admitted;
  /** Aborted when the client is gone. */
  readonly gone: AbortSignal;
  /** Records a refusal. */
  readonly record: (reason: string) => void;
}

interface StorageParts {
  readonly runtime: Runtime;
  readonly options: HttpServeOptions;
}

/** Throws a reason that begins with `body-`. */
async function storageResponse(call: StorageCall, { runtime, options }: StorageParts): Promise<Response> {
  const { req, target, identity, gone, record } = call;
  const { storage, bodyBytesMax } = options;
  if (storage === null) throw new TypeError("There are no storage routes");
  const method = req.method ?? "";
  const body = hasBody(method) ? (await readJson(req, bodyBytesMax)).value : undefined;
  const hasContentType = req.headers["content-type"] !== undefined;
  const { userId, client, originClass } = identity;
  const labels = { via: "http-storage", ...identity.labels };
  const ctx = { userId, signal: gone, labels, ...originOfRequest({ client, originClass, connection: null }) };
  const request = { target: target.storage, query: target.query, method, body, hasContentType };
  const ofRequest = identity.access === "write" ? runtime : runtime.asReadOnly();
  try {
    return responseFor(await answerStorage(request, { runtime: ofRequest, ctx, options: storage }));
  } catch (error) {
    if (!(error instanceof StorageRefusal)) throw error;
    record(error.reason);
    return responseFor({ status: error.status, body: { error: error.message } });
  }
}

function responseFor({ status, body, isRetryable }: StorageAnswer): Response {
  const headers = { "Content-Type": "application/json", ...(isRetryable && status === 503 && { "Retry-After": "1" }) };
  return new Response(JSON.stringify(body), { status, headers });
}
