/**
 * MCP over two streams, one message per line. A line that is none gets an error. Reading stops while too many requests are
 * unanswered, or the client reads no answers. The SDK's own transport has no bounds, and drops requests at the end of input.
 */
import { EventEmitter, once } from "node:events";
import type { Readable, Writable } from "node:stream";

import { mcpLimits } from "../mcp/mcp-limits.ts";
import { isJSONRPCNotification, isJSONRPCRequest, isJSONRPCResponse, serializeMessage } from "../mcp/sdk.ts";
import type { JSONRPCMessage, Transport } from "../mcp/sdk.ts";
import { LineBuffer, readLine } from "./read-lines.ts";
import type { Line } from "./read-lines.ts";

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
