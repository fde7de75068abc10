/** A client that does not read the answer. */
import { EventEmitter, once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";

import { expect, test } from "vitest";

import { sendResponse } from "../../host/serve/http/send-response.ts";

interface Source {
  readonly response: Response;
  /** Resolves when the stream is cancelled. */
  readonly cancelled: Promise<unknown>;
}

/** Writes as the SDK does: without waiting until the other side reads. */
function endlessStream(): Source {
  let timer: NodeJS.Immediate;
  const events = new EventEmitter();
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => {
      const write = (): void => {
        controller.enqueue(new Uint8Array(65_536));
        timer = setImmediate(write);
      };
      timer = setImmediate(write);
    },
    cancel: () => {
      clearImmediate(timer);
      events.emit("cancel");
    },
  });
  const response = new Response(stream, { headers: { "content-type": "text/event-stream" } });
  return { response, cancelled: once(events, "cancel") };
}

test("cuts a stream that is not read, and writes no more for it", async () => {
  const source = endlessStream();
  let largest = 0;
  const server = createServer((_, res) => {
    const watch = setInterval(() => (largest = Math.max(largest, res.writableLength)), 1);
    const { signal } = new AbortController();
    void sendResponse(source.response, { res, headers: {}, end: signal, gone: signal }).then((how) => {
      clearInterval(watch);
      return server.emit("sent", how);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.on("error", () => {});
  socket.pause();
  socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  expect(await once(server, "sent")).toEqual(["stalled"]);
  await source.cancelled;
  // One more piece than the limit can be buffered.
  expect(largest).toBeLessThan(262_144 + 2 * 65_536);
  socket.destroy();
  server.close();
});
