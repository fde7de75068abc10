import { ProtocolErrorCode, Server, isJSONRPCErrorResponse } from "./sdk.ts";
import type { Transport } from "./sdk.ts";

/** The recorded reason for each error code of requests that called nothing. */
const reasons: Readonly<Record<number, string>> = {
  [ProtocolErrorCode.MethodNotFound]: "method-unknown",
  [ProtocolErrorCode.InvalidParams]: "params-unfit",
  // The SDK uses this code for invalid parameters of some methods.
  [ProtocolErrorCode.InternalError]: "params-unfit",
};

/**
 * A server that reports the requests it refused itself: unknown methods, and invalid parameters, cursors and prompts.
 * Errors with data are already recorded where they arise: in a call, or in the lookup of a resource.
 */
export class RecordingServer extends Server {
  onRefused: (reason: string) => void = () => {};

  override async connect(transport: Transport): Promise<void> {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
      const { code, data } = isJSONRPCErrorResponse(message) ? message.error : {};
      const reason = code === undefined || data !== undefined ? undefined : reasons[code];
      if (reason !== undefined) this.onRefused(reason);
      return send(message, options);
    };
    await super.connect(transport);
  }
}
