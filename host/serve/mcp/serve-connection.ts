/** One client over one transport: standard input and output, or the memory of the embedding program. */
import { ChangeFeed } from "./change-feed.ts";
import { mcpLimits } from "./mcp-limits.ts";
import { isJSONRPCNotification, isJSONRPCRequest, isJSONRPCResponse, serveStdio } from "./sdk.ts";
import type { JSONRPCMessage, Transport } from "./sdk.ts";
import type { ServedUserParts } from "./served-user.ts";
import { makeUserServer } from "./user-server.ts";
import { WatchedResources, listenedUris } from "./watched-resources.ts";
import { withoutNulls } from "./without-nulls.ts";

export interface ServedConnection {
  close(): Promise<void>;
}

export interface ConnectionParts extends ServedUserParts {
  readonly transport: Transport;
  /** Gets the faults of the connection. */
  readonly onFault?: (error: Error) => void;
  readonly onClose?: (closed: ServedConnection) => void;
}

/** Serves a user's memory in the MCP revision that the client begins with, until either side closes. */
export function serveConnection({ transport, onFault, onClose, ...parts }: ConnectionParts): ServedConnection {
  const feed = new ChangeFeed(parts.runtime, parts.userId);
  const close = async (): Promise<void> => {
    onClose?.(served);
    feed.close();
    await connection?.close();
  };
  const served = { close };
  // A transport can close before it has started.
  let connection: ServedConnection | null = null;
  connection = serveStdio(
    // The streams of a 2026-07-28 client name the changes that it wants, and the SDK filters them.
    ({ era }) => makeUserServer({ ...parts, feed, changes: era === "modern" ? "all" : "watched" }),
    {
      transport: noted(transport, new WatchedResources(feed), close),
      maxSubscriptions: mcpLimits.listensMax,
      ...(onFault && { onerror: onFault }),
    },
  );
  return served;
}

/** A transport whose messages are noted: the SDK does not expose the streams that a 2026-07-28 client has. */
function noted(transport: Transport, streams: WatchedResources, onClose: () => Promise<void>): Transport {
  const wire: Transport = {
    start: async () => {
      // oxlint-disable unicorn/prefer-add-event-listener -- a transport is no EventTarget
      transport.onmessage = (sent, extra) => {
        const message = withoutNulls(sent);
        noteRead(message, streams);
        wire.onmessage?.(message, extra);
      };
      transport.onclose = () => {
        wire.onclose?.();
        onClose().catch((error: Error) => wire.onerror?.(error));
      };
      transport.onerror = (error) => wire.onerror?.(error);
      // oxlint-enable unicorn/prefer-add-event-listener
      await transport.start();
    },
    send: (message, options) => {
      // A stream was refused, or has ended.
      if (isJSONRPCResponse(message)) streams.delete(message.id);
      return transport.send(message, options);
    },
    close: () => transport.close(),
  };
  return wire;
}

/** Ignores streams beyond the SDK's maximum, which the SDK refuses. */
function noteRead(message: JSONRPCMessage, streams: WatchedResources): void {
  if (isJSONRPCRequest(message) && message.method === "subscriptions/listen") {
    if (streams.size < mcpLimits.listensMax) streams.add(message.id, listenedUris(message.params));
  } else if (isJSONRPCNotification(message) && message.method === "notifications/cancelled") {
    streams.delete(message.params?.["requestId"]);
  }
}
