import { ProtocolErrorCode, Server, isJSONRPCErrorResponse } from "./sdk.ts";
import type { Transport } from "./sdk.ts";

/** What is answered to requests that nothing was called for. */
const reasons: Readonly<Record<number, string>> = {
  [ProtocolErrorCode.MethodNotFound]: "method-unknown",
  [ProtocolErrorCode.InvalidParams]: "params-unfit",
  // So the SDK calls the same where it parses the parameters of some methods.
  [ProtocolErrorCode.InternalError]: "params-unfit",
};

/**
 * A server that tells what it has refused by itself: methods, parameters, cursors and prompts that are not there, or not as
 * they should be. An error that carries data is told by whoever has made it: a call, or a look for a resource.
 */
export class RecordingServer extends Server {
  /** Told the reason. */
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
