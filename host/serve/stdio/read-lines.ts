/** From bytes to messages: lines, and what each holds. */
import { isUtf8 } from "node:buffer";

import { ProtocolErrorCode, parseJSONRPCMessage } from "../mcp/sdk.ts";
import type { JSONRPCMessage } from "../mcp/sdk.ts";

/** Bytes as they come, cut into lines. What is held is at most one line's beginning, and never longer than allowed. */
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

/** What a line holds: a message, or something else, which is answered when it asks for something by an id. */
interface ReadLine {
  readonly message?: JSONRPCMessage;
  readonly refusal?: JSONRPCMessage;
}

export function readLine(line: Buffer): ReadLine {
  // Other bytes would be replaced one by one, and stored so.
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
    message: "Cannot read the request: it is not of JSON-RPC 2.0",
  };
  return { refusal: { jsonrpc: "2.0", id: id as string | number, error } };
}
