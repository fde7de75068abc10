/** Writes what the SDK answers. A stream is read as fast as it comes, so that what a slow client leaves lies in one place. */
import { once } from "node:events";
import type { ServerResponse } from "node:http";

import { httpLimits } from "./http-limits.ts";

/** Of what the SDK would say, what is said: caching and connections are not its business. */
const passedHeaders = new Set(["content-type", "mcp-session-id", "allow"]);

export interface Sending {
  readonly res: ServerResponse;
  readonly headers: Readonly<Record<string, string>>;
  /** Ends a stream before its time, as a token does that has expired. */
  readonly end: AbortSignal;
  /** The client is gone. */
  readonly gone: AbortSignal;
}

/** Resolves when all is written or the client is gone: to `stalled` when it was cut because the client does not read. */
export async function sendResponse(
  response: Response,
  { res, headers, ...signals }: Sending,
): Promise<"sent" | "stalled"> {
  const passed = Array.from(response.headers).filter(([name]) => passedHeaders.has(name));
  const all = { ...headers, ...Object.fromEntries(passed) };
  if (response.headers.get("content-type")?.startsWith("text/event-stream") && response.body) {
    // Proxies must neither keep it nor wait until there is more of it.
    res.writeHead(response.status, { ...all, "X-Accel-Buffering": "no" });
    res.flushHeaders();
    return await pump(response.body, res, signals);
  }
  const body = Buffer.from(await response.arrayBuffer());
  res.writeHead(response.status, { ...all, "Content-Length": body.length });
  return await finish(res, body, signals.gone);
}

async function finish(res: ServerResponse, body: Buffer, gone: AbortSignal): Promise<"sent" | "stalled"> {
  let isStalled = false;
  const late = setTimeout(() => {
    isStalled = true;
    res.destroy();
  }, httpLimits.answerMs);
  const closed = once(res, "close", { signal: gone });
  res.end(body);
  // The client has gone before it was all written: there is nobody to finish for.
  await closed.catch(() => null);
  clearTimeout(late);
  return isStalled ? "stalled" : "sent";
}

async function pump(
  stream: ReadableStream<Uint8Array>,
  res: ServerResponse,
  { end, gone }: Pick<Sending, "end" | "gone">,
): Promise<"sent" | "stalled"> {
  const reader = stream.getReader();
  const stop = (): void => void reader.cancel().catch(() => null);
  // Neither signal outlives the request by much, and a stream that has ended is not stopped any more.
  for (const signal of [end, gone]) {
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
  }
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    // Whatever is written last may be large; what was written before must not still lie there.
    if (res.writableLength > httpLimits.streamBytesMax) {
      stop();
      res.destroy();
      return "stalled";
    }
    res.write(value);
  }
  return await finish(res, Buffer.alloc(0), gone);
}
