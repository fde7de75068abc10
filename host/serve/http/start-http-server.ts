/** Streamable HTTP for many users: the server of `memcell serve --http`. */
import { once, EventEmitter } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

import { failureLine } from "../../log/failure-line.ts";
import type { LogEntry } from "../../log/log-entry.ts";
import { writeLog } from "../../log/write-log.ts";
import type { Runtime } from "../../runtime/api.ts";
import { RateLimit } from "../../values/rate-limit.ts";
import { visibleText } from "../../values/visible-text.ts";
import { isLoopback, listenAt } from "../loopback.ts";
import { mcpLimits } from "../mcp/mcp-limits.ts";
import type { HttpServeOptions } from "../serve-options.ts";
import { checkStorageTools } from "../storage/answer-storage.ts";
import { storagePrefix } from "../storage/storage-target.ts";
import { openAdmission } from "./admission.ts";
import { answerRequest } from "./answer-request.ts";
import type { AnsweringParts } from "./answer-request.ts";
import { allowedHostNames } from "./check-request.ts";
import { httpLimits } from "./http-limits.ts";
import { openPage, pagePath } from "./open-page.ts";
import type { OwnPage } from "./open-page.ts";
import { peerOf } from "./peer.ts";
import { metadataUrlOf } from "./resource-metadata.ts";
import { UserEndpoints } from "./user-endpoint.ts";

export interface HttpServer {
  /** The URL of MCP, with the address that the server listens on. */
  readonly url: string;
  /** The origin of the server, with that address. */
  readonly origin: string;
  /** The address that people have for the page; `null` if there is none. */
  readonly pageUrl: string | null;
  readonly port: number;
  /** What is open now. */
  readonly open: { readonly streams: number };
  /**
   * Stops the server. It refuses new connections and requests, cancels running requests after `closeGraceMs`, and ends
   * streams. The runtime stays open. A second call does nothing more.
   */
  close(): Promise<void>;
}

/**
 * Serves the memory of each user to MCP clients with a token for this user.
 *
 * Rejects with a `RangeError` for options that would admit nobody or everybody: unusable keys, keys that fit no
 * algorithm, one user on an address that other machines reach, no allowed host name. Rejects with the system's error
 * when it cannot listen.
 *
 * @example
 * const server = await startHttpServer(runtime, options);
 * console.log(server.url); // "http://127.0.0.1:7391/mcp"
 * await server.close();
 */
export async function startHttpServer(
  runtime: Runtime,
  options: HttpServeOptions,
  onLog: (entry: LogEntry) => void = () => {},
  ownPage: OwnPage | null = null,
): Promise<HttpServer> {
  const { onError, onFault } = boundedLog(onLog);
  if (options.storage !== null) checkStorageTools(runtime);
  const metadataUrl = metadataUrlOf(options);
  const admission = await openAdmission(options, onError);
  const underWay = new UnderWay();
  let at: Awaited<ReturnType<typeof listen>> | null = null;
  const page = await openPage(options, ownPage, { runtime, admission, origin: () => at?.origin ?? "", onError });
  const parts: AnsweringParts = {
    runtime,
    options,
    targets: {
      path: checkPath(options),
      metadataPath: metadataUrl?.pathname ?? null,
      hasStorage: options.storage !== null,
      pagePath: page?.base ?? null,
    },
    page,
    hostNames: allowedHostNames(options),
    origins: new Set(options.allowedOrigins),
    admission,
    userRate: new RateLimit(options.requestsPerMinute, httpLimits.countedMax),
    endpoints: new UserEndpoints({
      ...options,
      runtime,
      onError: onFault,
      pageUrl: page && `${page.origin()}${page.base}`,
    }),
    isClosing: () => underWay.isClosing,
    onError,
  };
  // Fetches the keys before the first request, if possible.
  await admission.isReady();
  const server = makeServer(parts, underWay);
  at = await listen(server, options);
  const { origin, port } = at;
  let closing: Promise<void> | null = null;
  return {
    url: `${origin}${options.path ?? ""}`,
    origin,
    pageUrl: page && `${page.origin()}${page.base}`,
    port,
    get open() {
      return { streams: parts.endpoints.streams };
    },
    close: () => (closing ??= closeAll(server, parts, underWay)),
  };
}

function checkPath({ path, storage, page }: HttpServeOptions): string | null {
  if (path === null) return null;
  const taken = [...(storage === null ? [] : [storagePrefix]), ...(page === null ? [] : [`${pagePath}/`])];
  const other = taken.find((each) => `${path}/`.startsWith(each));
  if (other !== undefined) {
    throw new RangeError(`Cannot serve at the path ${JSON.stringify(path)}: other routes are below ${other}`);
  }
  const isPath = /^\/[A-Za-z0-9._~/-]*$/.test(path) && new URL(path, "http://localhost").pathname === path;
  if (isPath && path !== "/healthz" && path !== "/readyz" && !path.startsWith("/.well-known/")) return path;
  throw new RangeError(
    `Cannot serve at the path ${JSON.stringify(path)}, allowed: a plain path other than /healthz, /readyz and /.well-known/`,
  );
}

function makeServer(parts: AnsweringParts, underWay: UnderWay): Server {
  const unanswered = new WeakMap<Socket, number>();
  const onRequest = (req: IncomingMessage, res: ServerResponse): void => {
    // The connection was cut after this request was read.
    if (req.socket.destroyed) return;
    if (countUnanswered(unanswered, req.socket, res))
      return void underWay.add((stands) => answerRequest({ req, res, stands }, parts));
    parts.runtime.refused({ surface: "http", reason: "http-malformed", peer: peerOf(req.socket) });
    req.socket.destroy();
  };
  const server = createServer(
    {
      // Check 3 checks the host instead, because Node's own refusal would not be recorded.
      requireHostHeader: false,
      maxHeaderSize: httpLimits.headerBytesMax,
      headersTimeout: httpLimits.headersMs,
      requestTimeout: httpLimits.requestMs,
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: httpLimits.keepAliveMs,
    },
    onRequest,
  );
  server.maxConnections = httpLimits.connectionsMax;
  // By default Node drops headers beyond 2,000, and so could drop a second Authorization. Their bytes are bounded.
  server.maxHeadersCount = 0;
  // Each request on a connection listens for its end.
  server.on("connection", (socket) => socket.setMaxListeners(0));
  server.on("checkExpectation", onRequest);
  server.on("connect", (_req, socket) => {
    // Node no longer handles errors of this socket, so a client that disconnects would crash the process.
    socket.on("error", () => socket.destroy());
    refuseConnection("", socket as Socket, parts.runtime);
  });
  server.on("drop", (dropped) => {
    parts.runtime.refused({ surface: "http", reason: "connections-full", peer: dropped && peerOf(dropped) });
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    refuseConnection(error.code ?? "", socket as Socket, parts.runtime);
  });
  return server;
}

/**
 * Counts the unanswered requests of each connection. Node reads on while they wait, so a client could send any number
 * of them. Returns `false` at the maximum.
 */
function countUnanswered(counts: WeakMap<Socket, number>, socket: Socket, res: ServerResponse): boolean {
  const count = counts.get(socket) ?? 0;
  if (count >= httpLimits.pipelinedMax) return false;
  counts.set(socket, count + 1);
  res.once("close", () => counts.set(socket, (counts.get(socket) ?? 1) - 1));
  return true;
}

const connectionAnswers: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

/** Refuses a connection without a valid request: too slow, too large, or not HTTP. */
function refuseConnection(code: string, socket: Socket, runtime: Runtime): void {
  // A browser opens a connection before it needs one, and sends nothing.
  const isUnused = code === "ERR_HTTP_REQUEST_TIMEOUT" && socket.bytesRead === 0;
  if (code === "ECONNRESET" || isUnused || !socket.writable) return void socket.destroy();
  runtime.refused({ surface: "http", reason: "http-malformed", peer: peerOf(socket) });
  const answer = connectionAnswers[code] ?? "400 Bad Request";
  // Writes nothing into the middle of another answer on this connection.
  if (socket.bytesWritten === 0) socket.write(`HTTP/1.1 ${answer}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  socket.destroySoon();
}

/** Checks the address after listening, not its name: the machine decides what `localhost` resolves to. */
async function listen(server: Server, options: HttpServeOptions): ReturnType<typeof listenAt> {
  const found = await listenAt(server, options);
  if (options.access.kind === "token" || isLoopback(found.address)) return found;
  server.close();
  throw new RangeError(`Cannot serve one user on ${found.address}: allowed are loopback addresses`);
}

async function closeAll(server: Server, parts: AnsweringParts, underWay: UnderWay): Promise<void> {
  const closed = once(server, "close");
  server.close();
  server.closeIdleConnections();
  await underWay.close(parts.options.closeGraceMs);
  await parts.endpoints.close();
  // Waits until the last events of the streams are sent.
  await underWay.settled(httpLimits.lastWordsMs);
  server.closeAllConnections();
  await closed;
}

/** Logs a limited number of each kind per minute, so a flood of one does not hide the other. */
function boundedLog(onLog: (entry: LogEntry) => void) {
  const told = new RateLimit(mcpLimits.faultsPerMinute, 2);
  const tell = (kind: string, lineOf: () => Pick<LogEntry, "level" | "text">): void => {
    if (told.count(kind) === 0) writeLog(onLog, { ...lineOf(), tool: "serve", userId: "", callId: "" });
  };
  return {
    /** An internal error, with all its causes. */
    onError: (error: unknown) => tell("error", () => failureLine(error)),
    /** A client's mistake in MCP. One short line, because it can quote the client. */
    onFault: ({ message }: Error) =>
      tell("fault", () => ({ level: "warn", text: `mcp: ${visibleText(message.slice(0, mcpLimits.faultCharsMax))}` })),
  };
}

/** Counts unanswered requests, so that a closing server can wait for them, but not for streams. */
class UnderWay {
  #open = 0;
  /** Open requests that are not streams. */
  #answering = 0;
  #isClosing = false;
  readonly #changes = new EventEmitter<{ less: [] }>();

  /** Counts a request until it is answered. `answer` calls `stands` if the answer is a stream. */
  async add(answer: (stands: () => void) => Promise<void>): Promise<void> {
    let isAnswering = true;
    const stands = (): void => {
      if (isAnswering) this.#answering--;
      isAnswering = false;
      this.#changes.emit("less");
    };
    this.#open++;
    this.#answering++;
    try {
      await answer(stands);
    } finally {
      this.#open--;
      stands();
    }
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** Begins to close. Resolves when all requests except streams are answered, or after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    await this.#until(() => this.#answering === 0, graceMs);
  }

  /** Resolves when nothing is open, or after `timeMs`. */
  async settled(timeMs: number): Promise<void> {
    await this.#until(() => this.#open === 0, timeMs);
  }

  async #until(isDone: () => boolean, timeMs: number): Promise<void> {
    const signal = AbortSignal.timeout(timeMs);
    while (!isDone() && !signal.aborted) await once(this.#changes, "less", { signal }).catch(() => null);
  }
}
