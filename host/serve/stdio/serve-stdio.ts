import { randomUUID } from "node:crypto";
import { addAbortListener } from "node:events";
import type { Readable, Writable } from "node:stream";

import { closingLimits } from "../../../shared/limits.ts";
import type { OriginClass } from "../../../shared/origin.ts";
import type { Runtime } from "../../runtime/api.ts";
import { RateLimit } from "../../values/rate-limit.ts";
import { visibleText } from "../../values/visible-text.ts";
import { mcpLimits } from "../mcp/mcp-limits.ts";
import { serveConnection } from "../mcp/serve-connection.ts";
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
  const transport = new LineTransport(input, output);
  transport.onrefused = () => runtime.refused({ surface: "mcp", reason: "line-unfit", userId });
  const client = { originClass, client: null, connection: randomUUID() };
  // Bounded, because a client can cause any number of faults.
  const told = new RateLimit(mcpLimits.faultsPerMinute, 1);
  const onFault = ({ message }: Error): void => {
    if (told.count("") === 0) options.onFault(visibleText(message.slice(0, mcpLimits.faultCharsMax)));
  };
  const page = { command: "memcell open" };
  const labels = { via: "mcp-stdio" };
  const connection = serveConnection({ runtime, userId, labels, client, page, transport, onFault });
  using _stopping = addAbortListener(signal, () => transport.stop());
  await transport.ended();

  const grace = new AbortController();
  const graceOver = setTimeout(() => grace.abort(), closeGraceMs);
  await transport.answered(grace.signal);
  await connection.close();
  await runtime.close();
  await transport.flushed(grace.signal);
  clearTimeout(graceOver);
}
