/** Splits bytes into lines, and parses each line as messages. */
import { isUtf8 } from "node:buffer";

import { parseStrictJson, UnfitJson } from "../../../shared/strict-json.ts";
import { mcpLimits } from "../mcp/mcp-limits.ts";
import { ProtocolErrorCode, parseJSONRPCMessage } from "../mcp/sdk.ts";
import type { JSONRPCMessage } from "../mcp/sdk.ts";
import { withoutNulls } from "../mcp/without-nulls.ts";

/** A line without its end; `null` in place of one that is too long. */
export type Line = Buffer | null;

/** Splits incoming bytes into lines. Holds at most the beginning of one line, up to the maximum. */
export class LineBuffer {
  readonly #bytesMax: number;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The lines that `chunk` ends. */
  *take(chunk: Buffer): Generator<Line> {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      this.#hold(chunk.subarray(from, at));
      from = at + 1;
      yield this.end();
    }
    this.#hold(chunk.subarray(from));
  }

  /** The line that the end of the input ends. */
  end(): Line {
    const line = this.#bytes > this.#bytesMax ? null : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    return line;
  }

  #hold(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > this.#bytesMax) this.#parts = [];
    else if (part.length > 0) this.#parts.push(part);
  }
}

/** What is in a line: a message, or the error to answer. */
type Read = { readonly message: JSONRPCMessage } | { readonly refusal: JSONRPCMessage };

const { messageBytesMax, batchMax } = mcpLimits;

/** A batch is as many lines, each with its own answer: only the revisions before 2025-06-18 have batches. */
export function readLine(line: Line): readonly Read[] {
  if (line === null) return [refused(`The line is too long; expected at most ${messageBytesMax} bytes`)];
  // Invalid UTF-8 would be decoded to replacement characters, and stored like that.
  if (!isUtf8(line)) return [refused("The line is not UTF-8", ProtocolErrorCode.ParseError)];
  // Programs on Windows begin their output with a byte order mark.
  const text = line.toString("utf8").replace(/^\ufeff/, "");
  if (text.trim() === "") return [];
  let value: unknown;
  try {
    value = parseStrictJson(text, Infinity);
  } catch (error) {
    if (!(error instanceof UnfitJson)) throw error;
    const isJson = error.cause === undefined;
    const what = isJson ? `The line ${error.message}` : "The line is not JSON; expected a message in one line";
    const asked = isJson ? [JSON.parse(text)].flat().map(askedId) : [];
    const ids = asked.filter((id) => id !== null).slice(0, batchMax);
    return (ids.length > 0 ? ids : [null]).map((id) => refused(what, ProtocolErrorCode.ParseError, id));
  }
  if (!Array.isArray(value)) return [readMessage(value)];
  if (value.length > 0 && value.length <= batchMax) return value.map(readMessage);
  return [refused(`The batch has ${value.length} messages; expected 1 to ${batchMax}`)];
}

function readMessage(value: unknown): Read {
  try {
    return { message: parseJSONRPCMessage(withoutNulls(value)) };
  } catch {
    const what = "Cannot read the request: it is not JSON-RPC 2.0";
    return refused(what, ProtocolErrorCode.InvalidRequest, askedId(value));
  }
}

/** The id of a request; `null` if none can be read. */
function askedId(value: unknown): unknown {
  const { id, method } = Object(value) as { readonly id?: unknown; readonly method?: unknown };
  return method !== undefined && (typeof id === "string" || Number.isSafeInteger(id)) ? id : null;
}

/** The id is `null` for a request without one that can be read, as JSON-RPC says. */
function refused(message: string, code: number = ProtocolErrorCode.InvalidRequest, id: unknown = null): Read {
  return { refusal: { jsonrpc: "2.0", id, error: { code, message } } as JSONRPCMessage };
}
