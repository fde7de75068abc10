/** Splits bytes into lines, and parses each line as a message. */
import { isUtf8 } from "node:buffer";

import { ProtocolErrorCode, parseJSONRPCMessage } from "../mcp/sdk.ts";
import type { JSONRPCMessage } from "../mcp/sdk.ts";

/** Splits incoming bytes into lines. Holds at most the beginning of one line, up to the maximum. */
export class LineBuffer {
  readonly #bytesMax: number;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The lines that `chunk` ends, without line feeds. Throws a `RangeError` for a line that is too long. */
  *take(chunk: Buffer): Generator<Buffer> {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      this.#hold(chunk.subarray(from, at));
      from = at + 1;
      const line = this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts);
      this.#parts = [];
      this.#bytes = 0;
      if (line) yield line;
    }
    this.#hold(chunk.subarray(from));
  }

  #hold(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > this.#bytesMax) {
      this.#parts = [];
      throw new RangeError(`a line is longer than ${this.#bytesMax} bytes`);
    }
    if (part.length > 0) this.#parts.push(part);
  }
}

/** A line's message. For an invalid message with a method and an id, the error to answer. */
interface ReadLine {
  readonly message?: JSONRPCMessage;
  readonly refusal?: JSONRPCMessage;
}

export function readLine(line: Buffer): ReadLine {
  // Invalid UTF-8 would be decoded to replacement characters, and stored like that.
  if (line.length === 0 || !isUtf8(line)) return {};
  let value: unknown;
  try {
    value = JSON.parse(line.toString("utf8"));
  } catch {
    return {};
  }
  try {
    return { message: parseJSONRPCMessage(value) };
  } catch {
    return refuse(value);
  }
}

function refuse(value: unknown): ReadLine {
  if (typeof value !== "object" || value === null || !("method" in value) || !("id" in value)) return {};
  const { id } = value;
  if (typeof id !== "string" && !Number.isSafeInteger(id)) return {};
  const error = {
    code: ProtocolErrorCode.InvalidRequest,
    message: "Cannot read the request: it is not JSON-RPC 2.0",
  };
  return { refusal: { jsonrpc: "2.0", id: id as string | number, error } };
}
