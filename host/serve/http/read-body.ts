/** Check 8: reads the whole body within bounds, as JSON that every parser reads alike. */
import type { IncomingMessage } from "node:http";

import { parseStrictJson, UnfitJson } from "../../../shared/strict-json.ts";
import { boundedBytes } from "../../values/bounded-bytes.ts";
import { mcpLimits } from "../mcp/mcp-limits.ts";
import { listenedUris } from "../mcp/watched-resources.ts";
import { withoutNulls } from "../mcp/without-nulls.ts";
import { fieldsIn } from "../page/page-request.ts";
import type { Fields } from "../page/screens/visit.ts";
import { httpLimits } from "./http-limits.ts";
import { RefusedRequest } from "./refusals.ts";

/** A JSON-RPC message, as far as it is checked. */
export interface RpcMessage {
  readonly id?: string | number;
  readonly method?: unknown;
  readonly params?: unknown;
}

/** Reads a JSON-RPC message, or those of a batch. The SDK gets them. Throws a reason that begins with `body-`. */
export async function readMessages(
  req: IncomingMessage,
  bytesMax: number,
): Promise<RpcMessage | readonly RpcMessage[]> {
  const { value, bytes } = await readJson(req, bytesMax);
  const isBatch = Array.isArray(value);
  const messages = (isBatch ? value : [value]).map(checkMessage);
  const [message] = messages;
  if (message === undefined || messages.length > mcpLimits.batchMax) throw new RefusedRequest("body-no-message");
  if (isTooMuchToKeep(message, bytes)) throw new RefusedRequest("body-too-large");
  return isBatch ? messages : message;
}

/** Throws a reason that begins with `body-`. */
export async function readJson(
  req: IncomingMessage,
  bytesMax: number,
): Promise<{ readonly value: unknown; readonly bytes: number }> {
  const { "content-type": type = "", "content-encoding": encoding } = req.headers;
  if (encoding !== undefined || !isJsonType(type)) {
    throw new RefusedRequest("body-type");
  }
  if (Number(req.headers["content-length"] ?? 0) > bytesMax) throw new RefusedRequest("body-too-large");
  const bytes = await readBytes(req, bytesMax);
  return { value: parse(bytes), bytes: bytes.length };
}

/** Reads a form of a page; `null` for a body that is none. Throws `body-too-large` and `body-cut`. */
export async function readForm(req: IncomingMessage, bytesMax: number): Promise<Fields | null> {
  const { "content-type": type = "", "content-encoding": encoding } = req.headers;
  if (encoding !== undefined || !/^application\/x-www-form-urlencoded(?:;\s*charset=utf-8)?$/i.test(type)) return null;
  return fieldsIn((await readBytes(req, bytesMax)).toString("latin1"));
}

/** Whether a request with this method has a body that is read. */
export const hasBody = (method: string | undefined): boolean => method === "POST" || method === "PUT";

/** The size of a request's body as its header declares it, or the maximum when it declares none. */
export function declaredBytes({ headers, method }: IncomingMessage, bytesMax: number): number {
  return hasBody(method) ? Math.min(Number(headers["content-length"] ?? bytesMax), bytesMax) : 0;
}

/** Whether a stream's request is too large. Its URIs are kept as long as the stream, and compared with each change. */
function isTooMuchToKeep({ method, params }: RpcMessage, bytes: number): boolean {
  if (method !== "subscriptions/listen") return false;
  return bytes > httpLimits.listenBytesMax || listenedUris(params).length > mcpLimits.subscriptionsMax;
}

/**
 * Reads and discards the body of a refused request, so that the client can read the answer. Cuts the connection after
 * `bytesMax` bytes.
 */
export function discardBody(req: IncomingMessage, bytesMax: number): void {
  if (req.complete) return;
  let bytes = 0;
  req.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > bytesMax) req.destroy();
  });
}

async function readBytes(req: IncomingMessage, bytesMax: number): Promise<Buffer> {
  // The request must outlive a body that is too large, to be answered.
  const chunks = req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  const bytes = await boundedBytes(chunks, bytesMax).catch((cause: unknown) => {
    throw new RefusedRequest("body-cut", { cause });
  });
  if (bytes === null) throw new RefusedRequest("body-too-large");
  return bytes;
}

function parse(bytes: Buffer): unknown {
  try {
    // Keeps a byte order mark at the beginning, so that the parser refuses it: it is not JSON.
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    checkValues(text, httpLimits.bodyValuesMax);
    return parseStrictJson(text, httpLimits.bodyDepthMax);
  } catch (cause) {
    if (cause instanceof UnfitJson || cause instanceof TypeError) throw new RefusedRequest("body-unfit", { cause });
    throw cause;
  }
}

function checkMessage(body: unknown): RpcMessage {
  if (typeof body !== "object" || body === null || Array.isArray(body)) throw new RefusedRequest("body-no-message");
  const { id } = body as { id?: unknown };
  const isText = typeof id === "string" && id.length <= httpLimits.requestIdCharsMax;
  if (id !== undefined && !isText && !Number.isSafeInteger(id)) throw new RefusedRequest("body-no-message");
  return withoutNulls<RpcMessage>(body);
}

/** Throws `UnfitJson` for too many values, before parsing. Each value begins after a bracket or a comma. */
function checkValues(json: string, valuesMax: number): void {
  let values = 0;
  let isInString = false;
  for (let at = 0; at < json.length; at++) {
    const character = json[at];
    if (character === '"') isInString = !isInString;
    else if (isInString && character === "\\") at++;
    else if (!isInString && (character === "[" || character === "{" || character === ",")) values++;
  }
  if (values > valuesMax) throw new UnfitJson(`has ${values} values, at most ${valuesMax} allowed`);
}

const token = "[\\w!#$%&'*+.^`|~-]+";
const parameter = `(${token})=(${token}|"(?:[^"\\\\]|\\\\.)*")`;
const form = new RegExp(`^application/json[\\t ]*(?:;[\\t ]*(?:${parameter}[\\t ]*)?)*$`, "i");

/** JSON is in UTF-8, which ASCII is a part of. */
const charsets = new Set(["utf-8", "utf8", "us-ascii"]);

/**
 * Whether a `Content-Type` is that of JSON, as RFC 9110 writes parameters: in any case, with white space around
 * semicolons, and with values in quotation marks. `charset` can be there once; other parameters mean nothing for JSON.
 */
function isJsonType(contentType: string): boolean {
  if (!form.test(contentType)) return false;
  const all = [...contentType.matchAll(new RegExp(parameter, "g"))];
  const named = all.filter(([, name = ""]) => name.toLowerCase() === "charset").map(([, , value = ""]) => value);
  const [charset = "utf-8"] = named;
  return named.length < 2 && charsets.has(charset.replace(/^"(.*)"$/, "$1").toLowerCase());
}
