/**
 * MCP over two streams, one message a line, both ways within bounds: nothing more is read while too much waits for an
 * answer, or the client does not read what it was sent. The SDK's own transport reads on, and drops what is in flight at
 * the end of input.
 */
import { EventEmitter, once } from "node:events";
import type { Readable, Writable } from "node:stream";

import { mcpLimits } from "../mcp/mcp-limits.ts";
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  serializeMessage,
} from "../mcp/sdk.ts";
import type { JSONRPCMessage, Transport } from "../mcp/sdk.ts";
import type { ListenedResources } from "./listened-resources.ts";
import { LineBuffer, readLine } from "./read-lines.ts";

export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #listened: ListenedResources | undefined;
  /** Ids of requests that were read and not answered. A client may give one id to several. */
  readonly #unanswered: unknown[] = [];
  readonly #changes = new EventEmitter<{ change: [] }>();
  #isBroken = false;
  #isStopped = false;
  #isClosed = false;

  /** `listened` hears of each message that is read or sent. */
  constructor(input: Readable, output: Writable, listened?: ListenedResources) {
    this.#input = input;
    this.#output = output;
    this.#listened = listened;
    output.on("drain", () => this.#lookAgain());
    // It stays for good: what is written last may fail late. Who has closed its end asks for nothing more.
    output.on("error", () => {
      this.#isBroken = true;
      this.stop();
    });
  }

  async start(): Promise<void> {
    void this.#read();
  }

  /** Reads no more. What has been read may still be answered. */
  stop(): void {
    this.#isStopped = true;
    this.#input.destroy();
    this.#lookAgain();
  }

  /** Resolves when nothing more will be read: the input has ended, `stop` was called, or nobody takes the output. */
  async ended(): Promise<void> {
    await this.#until(() => this.#isStopped);
  }

  /** Resolves when all that was read is answered, or when `signal` aborts. */
  async answered(signal: AbortSignal): Promise<void> {
    await this.#until(() => this.#unanswered.length === 0, signal);
  }

  /** Resolves when the operating system has all that was sent, or when `signal` aborts. */
  async flushed(signal: AbortSignal): Promise<void> {
    await this.#until(() => this.#isBroken || this.#output.writableLength === 0, signal);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) this.#settle(message.id);
    this.#listened?.sent(message);
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
    } catch (error) {
      // A stream that is destroyed while it is read ends with an error.
      if (!this.#isStopped) this.onerror?.(error as Error);
    } finally {
      this.stop();
    }
  }

  /** Only requests wait for others to be answered: what cancels one of these must get past them. */
  async #deliver(line: Buffer): Promise<void> {
    const { message, refusal } = readLine(line);
    const isRequest = message && isJSONRPCRequest(message);
    await this.#until(() => {
      const mayAsk = !isRequest || this.#unanswered.length < mcpLimits.requestsInFlightMax;
      return this.#isStopped || (mayAsk && !this.#output.writableNeedDrain);
    });
    if (this.#isStopped) return;
    if (refusal) await this.send(refusal);
    if (!message) return;
    // A stream of changes is answered when it ends: it is none of those that are waited for.
    if (isJSONRPCRequest(message) && message.method !== "subscriptions/listen") this.#unanswered.push(message.id);
    // What is cancelled gets no answer.
    if (isJSONRPCNotification(message) && message.method === "notifications/cancelled") {
      this.#settle(message.params?.["requestId"]);
    }
    this.#listened?.read(message);
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

  /** Wakes all that wait for something: there are never more than the reader and whoever ends the connection. */
  #lookAgain(): void {
    this.#changes.emit("change");
  }
}
