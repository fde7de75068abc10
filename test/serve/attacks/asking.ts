/**
 * What a well-behaved client of either revision sends. Each attack changes one part of it. In targets, headers and bodies,
 * `$user`, `$entry`, `$session`, `$store` and `$expired` stand for the victim's, `$alice` and `$own` for alice's token
 * and session. There are no sessions, so the ids are made up.
 */
export type HeaderLine = readonly [name: string, value: string];

export interface Ask {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly HeaderLine[];
  readonly body: string | Buffer;
  /** Sends no token. Otherwise the attacker's token is added if the headers have no `Authorization`. */
  readonly isAnonymous?: true;
}

const json = ["Content-Type", "application/json"] as const;
const accept = ["Accept", "application/json, text/event-stream"] as const;

/** A message of the 2026 revision. */
export function modern(method: string, params: object = {}, meta: object = {}): Ask {
  const { name, uri } = params as { name?: string; uri?: string };
  const named = name ?? uri;
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "attacker", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
    ...meta,
  };
  const headers: HeaderLine[] = [accept, json, ["Mcp-Protocol-Version", "2026-07-28"], ["Mcp-Method", method]];
  if (named !== undefined) headers.push(["Mcp-Name", named]);
  return post(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }), headers);
}

/** A message of the 2025 revisions, with the id of a session. */
export function inSession(method: string, params: object = {}, session = "$own"): Ask {
  return rawInSession(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }), session);
}

/** A notification of the 2025 revisions. It gets no answer. */
export function notification(method: string, params: object = {}, session = "$own"): Ask {
  return rawInSession(JSON.stringify({ jsonrpc: "2.0", method, params }), session);
}

/** Any body of the 2025 revisions. */
export function rawInSession(body: string | Buffer, session = "$own"): Ask {
  return post(body, [accept, json, ["Mcp-Protocol-Version", "2025-11-25"], ["Mcp-Session-Id", session]]);
}

/** A handshake of the 2025 revisions. */
export function initialize(clientName = "attacker", params: object = {}): Ask {
  const hello = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: clientName, version: "1" } };
  const message = { jsonrpc: "2.0", id: 0, method: "initialize", params: { ...hello, ...params } };
  return post(JSON.stringify(message), [accept, json]);
}

/** The call that most attacks modify. Both users have an entry of this name. */
export const readPlan: Ask = modern("tools/call", { name: "ReadUserMemory", arguments: { name: "plan" } });

/** The same call in 2025. */
export const readPlanIn = (session: string): Ask =>
  inSession("tools/call", { name: "ReadUserMemory", arguments: { name: "plan" } }, session);

function post(body: string | Buffer, headers: readonly HeaderLine[]): Ask {
  return { method: "POST", target: "/mcp", headers, body };
}

/** Adds headers, replacing those of the same name. */
export function withHeaders(ask: Ask, ...headers: readonly HeaderLine[]): Ask {
  const names = new Set(headers.map(([name]) => name.toLowerCase()));
  return { ...ask, headers: [...ask.headers.filter(([name]) => !names.has(name.toLowerCase())), ...headers] };
}

/** A call of a tool, with any input. */
export function callTool(name: string, input: unknown): Ask {
  return modern("tools/call", { name, arguments: input });
}

/** A request without a body, as earlier servers opened streams and ended sessions. */
export const bare = (method: string, ...headers: readonly HeaderLine[]): Ask => ({
  method,
  target: "/mcp",
  headers: [accept, ...headers],
  body: "",
});

/** Adds the token, unless the request has another or asks for none. */
export function authorised(ask: Ask, token: string): Ask {
  const isAuthorised = ask.headers.some(([name]) => name.toLowerCase() === "authorization");
  if (isAuthorised || ask.isAnonymous) return ask;
  return { ...ask, headers: [...ask.headers, ["Authorization", `Bearer ${token}`]] };
}

/** The bytes sent. The server closes the connection after its answer, unless a header says otherwise. */
export function bytesOf({ method, target, headers, body }: Ask): Buffer {
  const has = (name: string): boolean => headers.some(([each]) => each.toLowerCase() === name);
  const lines: HeaderLine[] = [...headers];
  if (!has("host")) lines.unshift(["Host", "127.0.0.1"]);
  if (!has("content-length") && !has("transfer-encoding") && body.length > 0) {
    lines.push(["Content-Length", String(Buffer.byteLength(body))]);
  }
  if (!has("connection")) lines.push(["Connection", "close"]);
  const head = [`${method} ${target} HTTP/1.1`, ...lines.map(([name, value]) => `${name}: ${value}`)].join("\r\n");
  // Header values can contain non-ASCII bytes, which are sent unchanged.
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`), Buffer.from(body)]);
}
