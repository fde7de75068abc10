/** An HTTP server in this process, with a runtime, a token issuer, and ways to send it valid and invalid requests. */
import { createHash } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { LogEntry, Refusal, Runtime, RuntimeOptions } from "memcell";

import { refusals as mcpRefusals } from "../../host/serve/http/refusals.ts";
import { startHttpServer } from "../../host/serve/http/start-http-server.ts";
import type { HttpServer } from "../../host/serve/http/start-http-server.ts";
import { tokenAlgorithms } from "../../host/serve/serve-options.ts";
import type { HttpServeOptions, StorageOptions, TokenOptions, TokenOrigins } from "../../host/serve/serve-options.ts";
import { storageRefusals } from "../../host/serve/storage/storage-refusal.ts";
import { askServer, modernRequest } from "./http-requests.ts";
import type { Answer, Asked } from "./http-requests.ts";
import { openStage } from "./runtime.ts";
import { audience, issuer, TokenIssuer } from "./token-issuer.ts";

export { tokenAlgorithms };
export type { HttpServeOptions, HttpServer, TokenOptions, TokenOrigins };

/** Every reason to refuse a request, with its answer. */
export const refusals: {
  readonly http: Readonly<Record<keyof typeof mcpRefusals, { status: number; code: number; message: string }>>;
  readonly storage: typeof storageRefusals;
} = { http: mcpRefusals, storage: storageRefusals };

export interface ServerOptions extends Partial<Omit<HttpServeOptions, "storage">> {
  /** Replaces defaults of a server with tokens. */
  readonly token?: Partial<TokenOptions>;
  /** With storage routes, and these options of theirs. */
  readonly storage?: Partial<StorageOptions>;
}

export interface HttpStageOptions extends ServerOptions {
  readonly runtime?: Partial<RuntimeOptions>;
}

/** A server, and ways to reach it. */
export interface ServedHttp extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly server: HttpServer;
  /** Sends one request unchanged, to the MCP path unless another is named. */
  ask(asked: Asked): Promise<Answer>;
  /** Sends one JSON-RPC message with all headers of a 2026-07-28 client. */
  rpc(token: string, method: string, params?: object, asked?: Asked): Promise<Answer>;
  /** A connected client, in the given revision. */
  client(token: string | null, mode?: ClientMode): Promise<Client>;
  /** A client of the storage routes with a user's token. */
  as(userId: string): StorageClient;
}

export interface HttpStage extends ServedHttp {
  readonly issuer: TokenIssuer;
  readonly runtime: Runtime;
  readonly folder: string;
  readonly dataDir: string;
  readonly logFile: string;
  /** A further server of the same runtime. It takes tokens of the same issuer unless the options say otherwise. */
  serve(options?: ServerOptions): Promise<ServedHttp>;
  /** Refusals passed to the audit log, in order, and the operator's log: since the beginning, or `forget`. */
  readonly refusals: readonly Refusal[];
  readonly log: readonly LogEntry[];
  /** The audit log, since the beginning or `forget`. */
  records(): Record<string, unknown>[];
  /** For the next test on this stage. */
  forget(): void;
  /** Resolves when there are so many refusals. */
  refusalsUntil(count: number): Promise<void>;
  /** Resolves when no server keeps anything for any user: no request, no stream. */
  nobody(): Promise<void>;
  /** A user whom no other test has. */
  user(name?: string): string;
}

export type ClientMode = "2026-07-28" | "legacy";

const serveDefaults: Omit<HttpServeOptions, "access"> = {
  host: "127.0.0.1",
  port: 0,
  path: "/mcp",
  page: null,
  allowedHosts: [],
  allowedOrigins: [],
  storage: null,
  originClass: "unstated",
  publicUrl: null,
  bodyBytesMax: 1_048_576,
  requestsPerMinute: 1_000_000,
  streamsPerUserMax: 32,
  closeGraceMs: 10_000,
};

/** Options for tokens of an issuer that serves its keys. */
export function tokenOptions(of: Pick<TokenIssuer, "jwksUrl">, changed: Partial<TokenOptions> = {}): TokenOptions {
  return {
    issuer,
    audience,
    clientsWithoutAudience: [],
    keys: { kind: "jwks-url", url: of.jwksUrl },
    userClaim: "sub",
    algorithms: tokenAlgorithms,
    clockToleranceS: 0,
    scopes: null,
    origins: { clientClaim: "client_id", ofClients: new Map(), claim: null },
    ...changed,
  };
}

/** Serves a runtime that is there. */
export async function serveRuntime(
  runtime: Runtime,
  issuing: TokenIssuer,
  { token, storage, ...options }: ServerOptions = {},
  onLog: (entry: LogEntry) => void = () => {},
): Promise<ServedHttp> {
  const access = { kind: "token", token: tokenOptions(issuing, token) } as const;
  const routes = storage && { storage: { agentKeys: null, internalValues: false, ...storage } };
  const server = await startHttpServer(runtime, { ...serveDefaults, access, ...options, ...routes }, onLog);
  const ask = (asked: Asked): Promise<Answer> => askServer(server.port, { path: "/mcp", ...asked });
  const clients: Client[] = [];
  return {
    url: server.url,
    port: server.port,
    server,
    ask,
    rpc: (bearer, method, params, asked) => ask(modernRequest(bearer, method, { params, asked })),
    client: async (bearer, mode = "2026-07-28") => {
      const client = await connectClient(server.url, bearer, mode);
      clients.push(client);
      return client;
    },
    as: (userId) => storageClient(ask, issuing.token(userId)),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(clients.map((client) => client.close().catch(() => null)));
      await server.close();
    },
  };
}

/**
 * @example
 * await using stage = await openHttpStage();
 * const client = await stage.client(await stage.issuer.token("alice"));
 * await client.callTool({ name: "ReadUserMemory", arguments: { name: "editor" } });
 */
export async function openHttpStage({ runtime: changed, ...options }: HttpStageOptions = {}): Promise<HttpStage> {
  const issuing = await TokenIssuer.start();
  const log: LogEntry[] = [];
  const onLog = (entry: LogEntry): void => void log.push(entry);
  const stage = await openStage({ onLog, ...changed });
  const { runtime, folder, dataDir, logFile } = stage;
  const refused = listenToRefusals(runtime);
  const nobody = listenToFeeds(runtime);
  const [allRecords, opened] = [tailOf(logFile), [] as ServedHttp[]];
  let forgotten = 0;
  const close = async (): Promise<void> => {
    for (const each of opened) await each[Symbol.asyncDispose]();
    await stage[Symbol.asyncDispose]();
    await issuing[Symbol.asyncDispose]();
  };
  const serve = async (more: ServerOptions = {}): Promise<ServedHttp> => {
    const served = await serveRuntime(runtime, issuing, more, onLog);
    opened.push(served);
    return served;
  };
  const served = await serve(options).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  return {
    ...served,
    issuer: issuing,
    runtime,
    folder,
    dataDir,
    logFile,
    serve,
    ...refused,
    log,
    records: () => allRecords().slice(forgotten),
    forget: () => {
      forgotten = allRecords().length;
      log.length = 0;
      refused.refusals.length = 0;
    },
    nobody,
    user: (name) => stage.user(name),
    [Symbol.asyncDispose]: close,
  };
}

/** Collects refusals; they still reach the runtime. */
function listenToRefusals(runtime: Runtime): { refusals: Refusal[]; refusalsUntil(count: number): Promise<void> } {
  const [told, news] = [[] as Refusal[], new EventEmitter()];
  const refused = runtime.refused.bind(runtime);
  runtime.refused = (refusal) => {
    told.push(refusal);
    refused(refusal);
    news.emit("refused");
  };
  return {
    refusals: told,
    refusalsUntil: async (count) => {
      while (told.length < count) await once(news, "refused");
    },
  };
}

/** Each user for whom a server keeps something has a feed, and each feed listens to the runtime. */
function listenToFeeds(runtime: Runtime): () => Promise<void> {
  const [feeds, ended] = [new Set<object>(), new EventEmitter()];
  const onChange = runtime.onChange.bind(runtime);
  runtime.onChange = (listener) => {
    const [stop, feed] = [onChange(listener), {}];
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

/** All records of an audit log. Parses only what was added since the last time. */
function tailOf(file: string): () => Record<string, unknown>[] {
  const records: Record<string, unknown>[] = [];
  let read = 0;
  return () => {
    const added = existsSync(file) ? readFileSync(file).subarray(read) : Buffer.alloc(0);
    const whole = added.subarray(0, added.lastIndexOf("\n") + 1);
    read += whole.length;
    for (const line of whole.toString().split("\n").slice(0, -1)) records.push(JSON.parse(line) as (typeof records)[0]);
    return records;
  };
}

export async function connectClient(url: string, token: string | null, mode: ClientMode): Promise<Client> {
  const negotiation = mode === "legacy" ? mode : { pin: mode };
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: negotiation } });
  const requestInit = { headers: { ...(token !== null && { authorization: `Bearer ${token}` }) } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  return client;
}

export interface Replied {
  readonly status: number;
  readonly body: unknown;
}

/** Sends a path below `/api/storage/`, and a body as JSON. Clients of the storage routes always name its type. */
export type StorageClient = (method: string, path: string, body?: unknown, asked?: Asked) => Promise<Replied>;

function storageClient(ask: ServedHttp["ask"], token: Promise<string>): StorageClient {
  return async (method, path, body, asked = {}) => {
    const headers = { authorization: `Bearer ${await token}`, "content-type": "application/json", ...asked.headers };
    const sent = { method, path: `/api/storage/${path}`, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const answer = await ask({ ...sent, ...asked, headers });
    return { status: answer.status, body: JSON.parse(answer.body) as unknown };
  };
}

/** Writes a file with the hashes of agents' keys, and returns its name. */
export function writeAgentKeys(folder: string, keys: Readonly<Record<string, string>>): string {
  const file = join(folder, "agent-keys.json");
  const hashes = Object.entries(keys).map(([userId, key]) => [createHash("sha256").update(key).digest("hex"), userId]);
  writeFileSync(file, JSON.stringify(Object.fromEntries(hashes)));
  return file;
}
