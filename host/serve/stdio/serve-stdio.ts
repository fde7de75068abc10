import { randomUUID } from "node:crypto";
import type { Readable, Writable } from "node:stream";

import { closingLimits } from "../../../shared/limits.ts";
import type { OriginClass } from "../../../shared/origin.ts";
import type { Runtime } from "../../runtime/api.ts";
import { visibleText } from "../../values/visible-text.ts";
import { ChangeFeed } from "../mcp/change-feed.ts";
import { ListenedResources } from "../mcp/listened-resources.ts";
import { mcpLimits } from "../mcp/mcp-limits.ts";
import { serveStdio as serveConnection } from "../mcp/sdk.ts";
import { makeUserServer } from "../mcp/user-server.ts";
import { LineTransport } from "./line-transport.ts";

export interface StdioServeOptions {
  /** Closed at the end. */
  readonly runtime: Runtime;
  /** All calls are made for this user. */
  readonly userId: string;
  /** The highest origin class of the client's calls. */
  readonly originClass: OriginClass;
  /** Ends serving, like the end of input. */
  readonly signal: AbortSignal;
  readonly input: Readable;
  /** Receives only MCP messages. */
  readonly output: Writable;
  /** Gets one line about each fault of the connection. */
  readonly onFault: (text: string) => void;
  /** How long requests may continue at the end, in milliseconds. Default: 10,000. */
  readonly closeGraceMs?: number;
}

/**
 * Serves one client over two streams, in the MCP revision that the client uses. Ends when the input ends, `signal`
 * aborts, or the output is closed. Then answers open requests, cancels them after `closeGraceMs`, closes the runtime,
 * and resolves. A line that is no message gets an error, and the next one is read.
 *
 * @example
 * const { stdin: input, stdout: output } = process;
 * await serveStdio({ runtime, userId: "alice", originClass: "unstated", signal, input, output, onFault: console.error });
 */
export async function serveStdio(options: StdioServeOptions): Promise<void> {
  const { runtime, userId, originClass, signal, input, output, closeGraceMs = closingLimits.graceMs } = options;
  const feed = new ChangeFeed(runtime, userId);
  const wire = new LineTransport(input, output, new ListenedResources(feed));
  const client = { originClass, client: null, connection: randomUUID() };
  const parts = { runtime, userId, labels: { via: "mcp-stdio" }, client, feed };
  const connection = serveConnection(
    // The streams of a 2026-07-28 client name the changes that it wants, and the SDK filters them.
    ({ era }) => makeUserServer({ ...parts, changes: era === "modern" ? "all" : "watched" }),
    { transport: wire, maxSubscriptions: mcpLimits.listensMax, onerror: boundedFaults(options.onFault) },
  );
  const stop = (): void => wire.stop();
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  await wire.ended();
  signal.removeEventListener("abort", stop);

  const grace = new AbortController();
  const graceOver = setTimeout(() => grace.abort(), closeGraceMs);
  await wire.answered(grace.signal);
  await connection.close();
  feed.close();
  await runtime.close();
  await wire.flushed(grace.signal);
  clearTimeout(graceOver);
}

/** Bounds the reports, because a client can cause any number of faults. */
function boundedFaults(onFault: (text: string) => void): (error: Error) => void {
  let left: number = mcpLimits.faultsToldMax;
  return ({ message }) => {
    if (left-- > 0) onFault(visibleText(message.slice(0, 200)));
  };
}
