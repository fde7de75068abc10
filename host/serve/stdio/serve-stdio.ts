import type { Readable, Writable } from "node:stream";

import { closingLimits } from "../../../shared/limits.ts";
import type { Runtime } from "../../runtime/api.ts";
import { visibleText } from "../../values/visible-text.ts";
import { ChangeFeed } from "../mcp/change-feed.ts";
import { mcpLimits } from "../mcp/mcp-limits.ts";
import { serveStdio as serveConnection } from "../mcp/sdk.ts";
import { makeUserServer } from "../mcp/user-server.ts";
import { LineTransport } from "./line-transport.ts";
import { ListenedResources } from "./listened-resources.ts";

export interface StdioServeOptions {
  /** Closed in the end. */
  readonly runtime: Runtime;
  /** Whoever has started the process: everything is done on behalf of this user. */
  readonly userId: string;
  /** Ends it, as the end of input does. */
  readonly signal: AbortSignal;
  readonly input: Readable;
  /** Nothing but MCP goes there. */
  readonly output: Writable;
  /** One line about something that went wrong on the connection. */
  readonly onFault: (text: string) => void;
  /** How long requests may go on when it ends, in milliseconds. Default: 10,000. */
  readonly closeGraceMs?: number;
}

/**
 * Serves one client over two streams, in whichever revision of MCP it speaks. Resolves when the input has ended, `signal`
 * aborts, or nobody takes the output any more: what had been asked for is answered first, or cancelled when the grace is
 * over, and the runtime is closed. A message of more than 1 MiB ends it too, for the line's end may never come.
 *
 * @example
 * const { stdin: input, stdout: output } = process;
 * await serveStdio({ runtime, userId: "alice", signal, input, output, onFault: console.error });
 */
export async function serveStdio(options: StdioServeOptions): Promise<void> {
  const { runtime, userId, signal, input, output, closeGraceMs = closingLimits.graceMs } = options;
  const feed = new ChangeFeed(runtime, userId);
  const wire = new LineTransport(input, output, new ListenedResources(feed));
  const labels = { via: "mcp-stdio" };
  const connection = serveConnection(
    // A client of 2026-07-28 says in its streams which changes it wants, and the entry chooses.
    ({ era }) => makeUserServer({ runtime, userId, labels, feed, changes: era === "modern" ? "all" : "watched" }),
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

/** A client can cause as many as it likes. */
function boundedFaults(onFault: (text: string) => void): (error: Error) => void {
  let left: number = mcpLimits.faultsToldMax;
  return ({ message }) => {
    if (left-- > 0) onFault(visibleText(message.slice(0, 200)));
  };
}
