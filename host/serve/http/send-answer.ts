/** Sends an answer to a client that may be slow, or may not read at all. */
import { once } from "node:events";
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

import { httpLimits } from "./http-limits.ts";

/** The headers of a response that are sent. This server sets those for caching and connections itself. */
const passedHeaders = new Set(["content-type", "allow", "retry-after"]);

export interface Sending {
  readonly res: ServerResponse;
  readonly headers: Readonly<Record<string, string>>;
  /** When a stream ends early, because its token expires. `null`: never. */
  readonly endsAtMs: number | null;
  /** The client is gone. */
  readonly gone: AbortSignal;
}

/** Resolves when all is written or the client is gone. `stalled`: it was cut because the client does not read. */
export async function sendResponse(
  response: Response,
  { res, headers, gone, endsAtMs }: Sending,
): Promise<"sent" | "stalled"> {
  const passed = Array.from(response.headers).filter(([name]) => passedHeaders.has(name));
  const all = { ...headers, ...Object.fromEntries(passed) };
  if (response.headers.get("content-type")?.startsWith("text/event-stream") && response.body) {
    // Proxies must not buffer a stream.
    res.writeHead(response.status, { ...all, "X-Accel-Buffering": "no" });
    res.flushHeaders();
    return await pump(response.body, res, { gone, endsAtMs });
  }
  const body = Buffer.from(await response.arrayBuffer());
  res.writeHead(response.status, { ...all, "Content-Length": body.length });
  return await finish(res, body, gone);
}

async function finish(res: ServerResponse, body: Buffer, gone: AbortSignal): Promise<"sent" | "stalled"> {
  let isStalled = false;
  const late = setTimeout(() => {
    isStalled = true;
    res.destroy();
  }, httpLimits.answerMs);
  const closed = once(res, "close", { signal: gone });
  res.end(body);
  // Rejects when the client has gone before everything was written.
  await closed.catch(() => null);
  clearTimeout(late);
  return isStalled ? "stalled" : "sent";
}

async function pump(
  stream: ReadableStream<Uint8Array>,
  res: ServerResponse,
  { gone, endsAtMs }: Pick<Sending, "gone" | "endsAtMs">,
): Promise<"sent" | "stalled"> {
  const reader = stream.getReader();
  const stop = (): void => void reader.cancel().catch(() => null);
  // The listener needs no removal: the signal ends with the request, and cancelling an ended stream does nothing.
  gone.addEventListener("abort", stop, { once: true });
  if (gone.aborted) stop();
  // The longest that a Node timer runs are 24 days.
  const leftMs = Math.min(Math.max(0, (endsAtMs ?? Infinity) - Date.now()), 2 ** 31 - 1);
  const expiry = endsAtMs === null ? undefined : setTimeout(stop, leftMs);
  expiry?.unref();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      // Checked before each write: the last chunk can be large, but the earlier ones must have been read.
      if (res.writableLength > httpLimits.streamBytesMax) {
        stop();
        res.destroy();
        return "stalled";
      }
      res.write(value);
    }
  } finally {
    clearTimeout(expiry);
  }
  return await finish(res, Buffer.alloc(0), gone);
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string | AsyncIterable<Uint8Array>;
}

/** Resolves as `sendResponse`. A whole memory takes its time: its connection is cut when nothing moves. */
export async function sendBody(
  { status, headers, body }: Answer,
  { res, gone }: Pick<Sending, "res" | "gone">,
): Promise<"sent" | "stalled"> {
  const all = headers as OutgoingHttpHeaders;
  if (typeof body === "string") {
    const bytes = Buffer.from(body);
    res.writeHead(status, { ...all, "Content-Length": bytes.length });
    return await finish(res, bytes, gone);
  }
  res.writeHead(status, all);
  res.setTimeout(httpLimits.answerMs, () => res.destroy());
  // Of a file that is large, no piece is made before the client has read those before it.
  return await pipeline(Readable.from(body, { highWaterMark: 1 }), res, { signal: gone }).then(
    () => "sent",
    () => "stalled",
  );
}
