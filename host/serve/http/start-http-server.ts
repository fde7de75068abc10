/** Streamable HTTP for many users: what `memcell serve --http` listens with. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

import type { LogEntry } from "../../log/log-entry.ts";
import type { Runtime } from "../../runtime/api.ts";
import { isLoopback } from "../loopback.ts";
import type { HttpServeOptions } from "../serve-options.ts";
import { openAdmission } from "./admission.ts";
import { answerRequest } from "./answer-request.ts";
import type { AnsweringParts } from "./answer-request.ts";
import { boundedLog } from "./bounded-log.ts";
import { allowedHostNames } from "./check-request.ts";
import { httpLimits } from "./http-limits.ts";
import { peerOf } from "./peer.ts";
import { RateLimit } from "./rate-limit.ts";
import { metadataUrlOf } from "./resource-metadata.ts";
import { UnderWay } from "./under-way.ts";
import { UserEndpoints } from "./user-endpoint.ts";

export interface HttpServer {
  /** Where MCP is spoken, by the address that it listens on. */
  readonly url: string;
  readonly port: number;
  /**
   * Ends it: no new connections and no new requests; those under way go on for `closeGraceMs`, then they are cancelled;
   * streams and sessions end. The runtime stays open. Closing again is harmless.
   */
  close(): Promise<void>;
}

/**
 * Serves the memory of each user to clients of MCP that show a token for him.
 *
 * Rejects with a `RangeError` for options under which nobody could ask, or anybody: keys that cannot be used or fit no
 * algorithm, one user on an address that others reach, no name to be asked by; and with the system's error when it cannot
 * listen.
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
): Promise<HttpServer> {
  const { onError, onFault } = boundedLog(onLog);
  const metadataUrl = metadataUrlOf(options);
  const admission = await openAdmission(options, metadataUrl?.href ?? null);
  const underWay = new UnderWay();
  const parts: AnsweringParts = {
    runtime,
    options,
    targets: { path: checkPath(options.path), metadataPath: metadataUrl?.pathname ?? null },
    hostNames: allowedHostNames(options),
    origins: new Set(options.allowedOrigins),
    admission,
    userRate: new RateLimit(options.requestsPerMinute),
    endpoints: new UserEndpoints({ ...options, runtime, onError: onFault }),
    isClosing: () => underWay.isClosing,
    onError,
  };
  // Known before anybody asks, if it can be.
  await admission.isReady();
  const server = makeServer(parts, underWay);
  const port = await listen(server, options);
  const host = options.host.includes(":") && !options.host.startsWith("[") ? `[${options.host}]` : options.host;
  let closing: Promise<void> | null = null;
  return {
    url: `http://${host}:${port}${options.path}`,
    port,
    close: () => (closing ??= closeAll(server, parts, underWay)),
  };
}

function checkPath(path: string): string {
  const isPath = /^\/[A-Za-z0-9._~/-]*$/.test(path) && new URL(path, "http://localhost").pathname === path;
  if (isPath && path !== "/healthz" && path !== "/readyz" && !path.startsWith("/.well-known/")) return path;
  throw new RangeError(
    `Cannot serve at the path ${JSON.stringify(path)}, allowed: a plain one that has no other meaning`,
  );
}

function makeServer(parts: AnsweringParts, underWay: UnderWay): Server {
  const unanswered = new WeakMap<Socket, number>();
  const onRequest = (req: IncomingMessage, res: ServerResponse): void => {
    // What was read of a connection before it was cut is not answered.
    if (req.socket.destroyed) return;
    if (countUnanswered(unanswered, req.socket, res))
      return void underWay.add((stands) => answerRequest({ req, res, stands }, parts));
    parts.runtime.refused({ surface: "http", reason: "http-malformed", peer: peerOf(req.socket) });
    req.socket.destroy();
  };
  const server = createServer(
    {
      // What Node would refuse by itself would be on no record: check 3 looks for the host.
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
  // By default Node forgets headers beyond 2,000, and so a second Authorization. Their bytes are bounded.
  server.maxHeadersCount = 0;
  // Requests that came at once on one connection each listen for its end.
  server.on("connection", (socket) => socket.setMaxListeners(0));
  server.on("checkExpectation", onRequest);
  server.on("connect", (_req, socket) => {
    // Node listens to it no more, and a client that has gone would end the process.
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
 * Counts the requests of each connection until they are answered. Node reads on while they wait, for as long as the client
 * sends: of a connection that waits for nothing it would take any number. `false` when there are as many as may be.
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

/** What is no request at all: too slow, too large, or not HTTP. */
function refuseConnection(code: string, socket: Socket, runtime: Runtime): void {
  if (code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  runtime.refused({ surface: "http", reason: "http-malformed", peer: peerOf(socket) });
  const answer = connectionAnswers[code] ?? "400 Bad Request";
  // An answer that has begun on this connection would be the worse for another in its middle.
  if (socket.bytesWritten === 0) socket.write(`HTTP/1.1 ${answer}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  socket.destroySoon();
}

/** The address counts, and not its name: `localhost` is what the machine's own tables make of it. */
async function listen(server: Server, { host, port, access }: HttpServeOptions): Promise<number> {
  server.listen({ host: host.replace(/^\[|\]$/g, ""), port });
  await once(server, "listening");
  const { address, port: listening } = server.address() as AddressInfo;
  if (access.kind === "token" || isLoopback(address)) return listening;
  server.close();
  throw new RangeError(`Cannot serve one user on ${address}: allowed are loopback addresses`);
}

async function closeAll(server: Server, parts: AnsweringParts, underWay: UnderWay): Promise<void> {
  const closed = once(server, "close");
  server.close();
  server.closeIdleConnections();
  await underWay.close(parts.options.closeGraceMs);
  await parts.endpoints.close();
  // What the streams have been told last shall reach their clients.
  await underWay.settled(httpLimits.lastWordsMs);
  server.closeAllConnections();
  await closed;
}
