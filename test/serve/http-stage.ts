/** An HTTP server in this process, with a runtime, a token issuer, and ways to send it valid and invalid requests. */
import { EventEmitter, once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createRuntime } from "memcell";
import type { LogEntry, Runtime, RuntimeOptions } from "memcell";

import { startHttpServer } from "../../host/serve/http/start-http-server.ts";
import type { HttpServer } from "../../host/serve/http/start-http-server.ts";
import { tokenAlgorithms } from "../../host/serve/serve-options.ts";
import type { HttpServeOptions, TokenOptions } from "../../host/serve/serve-options.ts";
import type { Refusal } from "../../host/values/refusal.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames } from "../support/test-plugin.ts";
import { askServer, modernRequest } from "./http-requests.ts";
import type { Answer, Asked } from "./http-requests.ts";
import { audience, issuer, TokenIssuer } from "./token-issuer.ts";

export { askServer, modernRequest, sendBytes } from "./http-requests.ts";
export type { Answer, Asked } from "./http-requests.ts";

export interface HttpStageOptions extends Partial<HttpServeOptions> {
  readonly runtime?: Partial<RuntimeOptions>;
  /** Replaces defaults of a server with tokens. */
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
  /** All refusals passed to the audit log, in order. */
  readonly refusals: readonly Refusal[];
  /** The audit log so far. */
  records(): Record<string, unknown>[];
  /** Resolves when the server keeps nothing for any user: no request, no session, no stream. */
  nobody(): Promise<void>;
  /** The operator's log. */
  readonly log: readonly LogEntry[];
  /** Sends one request unchanged, to the MCP path unless another is named. */
  ask(asked: Asked): Promise<Answer>;
  /** Sends one JSON-RPC message with all headers of a 2026-07-28 client. */
  rpc(token: string, method: string, params?: object, asked?: Asked): Promise<Answer>;
  /** A connected client, in the given revision. */
  client(token: string | null, mode?: ClientMode): Promise<Client>;
}

export type ClientMode = "2026-07-28" | "legacy";

export const serveDefaults: Omit<HttpServeOptions, "access"> = {
  host: "127.0.0.1",
  port: 0,
  path: "/mcp",
  allowedHosts: [],
  allowedOrigins: [],
  storage: null,
  originClass: "unstated",
  publicUrl: null,
  bodyBytesMax: 1_048_576,
  requestsPerMinute: 1_000_000,
  sessionsPerUserMax: 32,
  sessionIdleMs: 1_800_000,
  closeGraceMs: 10_000,
};

/** Options for tokens of an issuer that serves its keys. */
export function tokenOptions(of: Pick<TokenIssuer, "jwksUrl">, changed: Partial<TokenOptions> = {}): TokenOptions {
  return {
    issuer,
    audience,
    keys: { kind: "jwks-url", url: of.jwksUrl },
    userClaim: "sub",
    algorithms: tokenAlgorithms,
    clockToleranceS: 0,
    scopes: null,
    origins: { clientClaim: "client_id", ofClients: new Map(), claim: null },
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
    plugins: shippedNames(),
    threadsMax: 2,
    auditLog: { file: logFile },
    onLog,
    ...runtimeOptions,
  });
  const refusals = listenToRefusals(runtime);
  const nobody = listenToFeeds(runtime);
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
    records: () => {
      const lines = readFileSync(logFile, "utf8").trimEnd().split("\n");
      return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    },
    nobody,
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

/** Collects refusals; they still reach the runtime. */
function listenToRefusals(runtime: Runtime): Refusal[] {
  const refusals: Refusal[] = [];
  const refused = runtime.refused.bind(runtime);
  runtime.refused = (refusal) => {
    refusals.push(refusal);
    refused(refusal);
  };
  return refusals;
}

/** Each user for whom the server keeps something has a feed, and each feed listens to the runtime. */
function listenToFeeds(runtime: Runtime): () => Promise<void> {
  const ended = new EventEmitter();
  const feeds = new Set<object>();
  const onChange = runtime.onChange.bind(runtime);
  runtime.onChange = (listener) => {
    const stop = onChange(listener);
    const feed = {};
    feeds.add(feed);
    return () => {
      stop();
      feeds.delete(feed);
      ended.emit("end");
    };
  };
  return async () => {
    while (feeds.size > 0) await once(ended, "end");
  };
}

export async function connectClient(url: string, token: string | null, mode: ClientMode): Promise<Client> {
  const negotiation = mode === "legacy" ? mode : { pin: mode };
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: negotiation } });
  const requestInit = { headers: { ...(token !== null && { authorization: `Bearer ${token}` }) } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  return client;
}
