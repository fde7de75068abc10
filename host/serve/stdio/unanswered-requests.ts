import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
} from "../mcp/sdk.ts";
import type { JSONRPCMessage } from "../mcp/sdk.ts";

type Id = string | number;

/** Which requests of a connection have been read and not answered. */
export class UnansweredRequests {
  /** A client may give one id to several requests. */
  readonly #counts = new Map<Id, number>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** A stream of changes is answered when it ends: it is none of those that are waited for. */
  read(message: JSONRPCMessage): void {
    if (isJSONRPCRequest(message) && message.method !== "subscriptions/listen") this.#add(message.id);
    // What is cancelled gets no answer.
    if (isJSONRPCNotification(message) && message.method === "notifications/cancelled") {
      this.#remove(message.params?.["requestId"] as Id);
    }
  }

  sent(message: JSONRPCMessage): void {
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) this.#remove(message.id);
  }

  #add(id: Id): void {
    this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1);
    this.#count++;
  }

  #remove(id: Id | undefined): void {
    const count = id === undefined ? undefined : this.#counts.get(id);
    if (id === undefined || count === undefined) return;
    if (count > 1) this.#counts.set(id, count - 1);
    else this.#counts.delete(id);
    this.#count--;
  }
}
