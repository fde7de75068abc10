/**
 * MCP over two streams, one message per line. A line that is none gets an error. Reading stops while too many requests are
 * unanswered, or the client reads no answers. The SDK's own transport has no bounds, and drops requests at the end of input.
 */
import { isUtf8 } from "node:buffer";
import { EventEmitter, once } from "node:events";
import type { Readable, Writable } from "node:stream";

import { parseStrictJson, UnfitJson } from "../../../shared/strict-json.ts";
import { mcpLimits } from "../mcp/mcp-limits.ts";
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  serializeMessage,
  ProtocolErrorCode,
  parseJSONRPCMessage,
} from "../mcp/sdk.ts";
import type { JSONRPCMessage, Transport } from "../mcp/sdk.ts";
import { withoutNulls } from "../mcp/without-nulls.ts";

export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  onrefused?: () => void;
  readonly #input: Readable;
  readonly #output: Writable;
  /** Ids of unanswered requests. A client can use one id for several. */
  readonly #unanswered: unknown[] = [];
  readonly #changes = new EventEmitter<{ change: [] }>();
  #isBroken = false;
  #isStopped = false;
  #isClosed = false;

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
    output.on("drain", () => this.#lookAgain());
    // Never removed, because the last write can fail late. A client that has closed its end needs no more answers.
    output.on("error", () => {
      this.#isBroken = true;
      this.stop();
    });
  }

  async start(): Promise<void> {
    void this.#read();
  }

  /** Stops reading. Messages that were already read can still be answered. */
  stop(): void {
    this.#isStopped = true;
    this.#input.destroy();
    this.#lookAgain();
  }

  /** Resolves when reading has stopped: the input ended, `stop` was called, or the output was closed. */
  async ended(): Promise<void> {
    await this.#until(() => this.#isStopped);
  }

  /** Resolves when all requests are answered, or when `signal` aborts. */
  async answered(signal: AbortSignal): Promise<void> {
    await this.#until(() => this.#unanswered.length === 0, signal);
  }

  /** Resolves when the operating system has all sent messages, or when `signal` aborts. */
  async flushed(signal: AbortSignal): Promise<void> {
    await this.#until(() => this.#isBroken || this.#output.writableLength === 0, signal);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (isJSONRPCResponse(message)) this.#settle(message.id);
    const isWritable = !this.#isClosed && !this.#isBroken;
    if (isWritable) this.#output.write(serializeMessage(message), () => this.#lookAgain());
    this.#lookAgain();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.stop();
    this.onclose?.();
  }

  async #read(): Promise<void> {
    const lines = new LineBuffer(mcpLimits.messageBytesMax);
    try {
      for await (const chunk of this.#input) {
        for (const line of lines.take(chunk as Buffer)) {
          await this.#deliver(line);
          if (this.#isStopped) return;
        }
      }
      await this.#deliver(lines.end());
    } catch (error) {
      // A stream that is destroyed while it is read ends with an error.
      if (!this.#isStopped) this.onerror?.(error as Error);
    } finally {
      this.stop();
    }
  }

  async #deliver(line: Line): Promise<void> {
    for (const read of readLine(line)) {
      if ("message" in read) await this.#deliverMessage(read.message);
      else {
        await this.#until(() => this.#isStopped || !this.#output.writableNeedDrain);
        this.onrefused?.();
        await this.send(read.refusal);
      }
    }
  }

  /** Only requests wait until others are answered. Notifications do not, because they can cancel those requests. */
  async #deliverMessage(message: JSONRPCMessage): Promise<void> {
    const isRequest = isJSONRPCRequest(message);
    await this.#until(() => {
      const mayAsk = !isRequest || this.#unanswered.length < mcpLimits.requestsInFlightMax;
      return this.#isStopped || (mayAsk && !this.#output.writableNeedDrain);
    });
    if (this.#isStopped) return;
    // Does not wait for change streams: they are answered when they end.
    if (isRequest && message.method !== "subscriptions/listen") this.#unanswered.push(message.id);
    // A cancelled request gets no answer.
    if (isJSONRPCNotification(message) && message.method === "notifications/cancelled") {
      this.#settle(message.params?.["requestId"]);
    }
    this.onmessage?.(message);
  }

  #settle(id: unknown): void {
    const at = this.#unanswered.indexOf(id);
    if (at !== -1) this.#unanswered.splice(at, 1);
  }

  async #until(holds: () => boolean, signal?: AbortSignal): Promise<void> {
    const isOver = (): boolean => holds() || signal?.aborted === true;
    while (!isOver()) await once(this.#changes, "change", { signal }).catch(() => null);
  }

  /** Wakes everything that waits: at most the reader, and the code that ends the connection. */
  #lookAgain(): void {
    this.#changes.emit("change");
  }
}

/** A line without its end; `null` in place of one that is too long. */
type Line = Buffer | null;

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
function readLine(line: Line): readonly Read[] {
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
