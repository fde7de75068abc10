/** A server over HTTP in this process, with a runtime, an issuer of tokens, and what it takes to ask it well or badly. */
import { once } from "node:events";
import { request } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createRuntime } from "memcell";
import type { LogEntry, Runtime, RuntimeOptions } from "memcell";

import type { Refusal } from "../../host/refusal.ts";
import { startHttpServer } from "../../host/serve/http/start-http-server.ts";
import type { HttpServer } from "../../host/serve/http/start-http-server.ts";
import { tokenAlgorithms } from "../../host/serve/serve-options.ts";
import type { HttpServeOptions, TokenOptions } from "../../host/serve/serve-options.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { audience, issuer, TokenIssuer } from "./token-issuer.ts";

/** What an answer says. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Asked {
  readonly method?: string;
  readonly path?: string;
  /** A list is sent as that many headers. `host` may be given. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Buffer;
}

export interface HttpStageOptions extends Partial<HttpServeOptions> {
  readonly runtime?: Partial<RuntimeOptions>;
  /** Instead of the defaults of a server that takes tokens. */
  readonly token?: Partial<TokenOptions>;
}

export interface HttpStage extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly issuer: TokenIssuer;
  readonly runtime: Runtime;
  readonly dataDir: string;
  readonly logFile: string;
  readonly server: HttpServer;
  /** What has been told to the audit log, in order. */
  readonly refusals: readonly Refusal[];
  /** What the operator was told. */
  readonly log: readonly LogEntry[];
  /** One request, as it is written, to the MCP path unless another is named. */
  ask(asked: Asked): Promise<Answer>;
  /** One JSON-RPC message with all that a client of 2026-07-28 sends. */
  rpc(token: string, method: string, params?: object, asked?: Asked): Promise<Answer>;
  /** A client that has connected, in the revision named. */
  client(token: string | null, mode?: ClientMode): Promise<Client>;
}

export type ClientMode = "2026-07-28" | "legacy";

export const serveDefaults: Omit<HttpServeOptions, "access"> = {
  host: "127.0.0.1",
  port: 0,
  path: "/mcp",
  allowedHosts: [],
  allowedOrigins: [],
  publicUrl: null,
  bodyBytesMax: 1_048_576,
  requestsPerMinute: 1_000_000,
  sessionsPerUserMax: 32,
  sessionIdleMs: 1_800_000,
  closeGraceMs: 10_000,
};

/** Options for tokens of an issuer whose keys are fetched from it. */
export function tokenOptions(of: Pick<TokenIssuer, "jwksUrl">, changed: Partial<TokenOptions> = {}): TokenOptions {
  return {
    issuer,
    audience,
    keys: { kind: "jwks-url", url: of.jwksUrl },
    userClaim: "sub",
    algorithms: tokenAlgorithms,
    clockToleranceS: 0,
    ...changed,
  };
}

/**
 * @example
 * await using stage = await openHttpStage();
 * const client = await stage.client(await stage.issuer.token("alice"));
 * await client.callTool({ name: "ReadUserMemory", arguments: { name: "editor" } });
 */
export async function openHttpStage(stageOptions: HttpStageOptions = {}): Promise<HttpStage> {
  const { runtime: runtimeOptions, token, ...options } = stageOptions;
  const folder = temporaryFolder();
  const issuing = await TokenIssuer.start();
  const dataDir = join(folder.path, "data");
  const logFile = join(folder.path, "log", "audit.jsonl");
  const log: LogEntry[] = [];
  const onLog = (entry: LogEntry): void => void log.push(entry);
  const runtime = await createRuntime({
    dataDir,
    threadsMax: 2,
    auditLog: { file: logFile },
    onLog,
    ...runtimeOptions,
  });
  const refusals = listenToRefusals(runtime);
  const access = { kind: "token", token: tokenOptions(issuing, token) } as const;
  const server = await startHttpServer(runtime, { ...serveDefaults, access, ...options }, onLog);
  const ask = (asked: Asked): Promise<Answer> => askServer(server.port, { path: serveDefaults.path, ...asked });
  const clients: Client[] = [];
  return {
    url: server.url,
    port: server.port,
    issuer: issuing,
    runtime,
    dataDir,
    logFile,
    server,
    refusals,
    log,
    ask,
    rpc: (bearer, method, params, asked) => ask(modernRequest(bearer, method, { params, asked })),
    client: async (bearer, mode = "2026-07-28") => {
      const client = await connectClient(server.url, bearer, mode);
      clients.push(client);
      return client;
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(clients.map((client) => client.close().catch(() => null)));
      await server.close();
      await runtime.close();
      await issuing[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

/** They reach the runtime as ever. */
function listenToRefusals(runtime: Runtime): Refusal[] {
  const refusals: Refusal[] = [];
  const refused = runtime.refused.bind(runtime);
  runtime.refused = (refusal) => {
    refusals.push(refusal);
    refused(refusal);
  };
  return refusals;
}

export async function connectClient(url: string, token: string | null, mode: ClientMode): Promise<Client> {
  const negotiation = mode === "legacy" ? mode : { pin: mode };
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: negotiation } });
  const requestInit = { headers: { ...(token !== null && { authorization: `Bearer ${token}` }) } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  return client;
}

/** Sends what `fetch` would not: any header, any number of times. */
export async function askServer(port: number, { method = "POST", path, headers, body }: Asked): Promise<Answer> {
  const list = Object.entries({ host: `127.0.0.1:${port}`, ...headers }).flatMap(([name, value]) =>
    (typeof value === "string" ? [value] : value).flatMap((each) => [name, each]),
  );
  if (body !== undefined && headers?.["content-length"] === undefined && headers?.["transfer-encoding"] === undefined) {
    list.push("content-length", String(Buffer.byteLength(body)));
  }
  const asking = request({ host: "127.0.0.1", port, method, path, headers: list, agent: false });
  const answered = once(asking, "response");
  asking.end(body);
  const [response] = await answered;
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks).toString() };
}

/** Sends bytes as they are, and gives what comes back until the server ends the connection. */
export async function sendBytes(port: number, bytes: string | Buffer): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(bytes);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

export interface ModernRequest {
  readonly params?: object | undefined;
  /** Besides, or instead. */
  readonly asked?: Asked | undefined;
}

/** A request as a client of 2026-07-28 sends it. */
export function modernRequest(token: string, method: string, { params = {}, asked = {} }: ModernRequest = {}): Asked {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const { name } = params as { name?: unknown };
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": method,
    ...(typeof name === "string" && { "mcp-name": name }),
    ...asked.headers,
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { _meta, ...params } });
  return { body, ...asked, headers };
}
