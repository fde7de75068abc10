import type { IncomingMessage, ServerResponse } from "node:http";

export interface NodeExchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

/**
 * Aborts when the client has gone, which cancels the call. A response that waits for its turn on a connection gets no
 * `close` event, so this also listens to the connection.
 */
export function clientGone({ req: { socket }, res }: NodeExchange): AbortSignal {
  const gone = new AbortController();
  const onGone = (): void => gone.abort();
  if (res.destroyed || socket.destroyed) onGone();
  socket.once("close", onGone);
  res.once("close", () => {
    socket.off("close", onGone);
    if (!res.writableFinished) onGone();
  });
  return gone.signal;
}
