/** Requests as clients of each revision send them, and malformed ones. */
import { once } from "node:events";
import { request } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import { connect } from "node:net";

/** An HTTP answer. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Asked {
  readonly method?: string;
  readonly path?: string;
  /** A list is sent as several headers. `host` can be replaced. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Buffer;
}

/** Sends what `fetch` cannot: any header, any number of times. */
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

/** Sends raw bytes and returns the answer when the server ends the connection. */
export async function sendBytes(port: number, bytes: string | Buffer): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(bytes);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

export interface ModernRequest {
  readonly params?: object | undefined;
  /** Additions and replacements. */
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

/** A request as a client of a 2025 revision sends it. */
export function legacyRequest(token: string, message: object, asked: Asked = {}): Asked {
  return {
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    ...asked,
    headers: {
      authorization: `Bearer ${token}`,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-protocol-version": "2025-11-25",
      ...asked.headers,
    },
  };
}

/** The first message of a client of a 2025 revision. */
export const handshake = {
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "0" } },
};

/** The bytes of a request, for a connection that carries several. */
export function bytesOf({ headers, body = "" }: Asked, more: object = {}): string {
  const lines = { host: "127.0.0.1", ...headers, "content-length": String(Buffer.byteLength(body)), ...more };
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}`);
  return `POST /mcp HTTP/1.1\r\n${head.join("\r\n")}\r\n\r\n${String(body)}`;
}
