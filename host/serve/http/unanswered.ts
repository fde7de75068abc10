import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

import { httpLimits } from "./http-limits.ts";

/**
 * Counts the requests of each connection that have no answer yet. Node reads on while they wait, for as long as the client
 * sends: of a connection that waits for nothing it would take any number.
 */
export class Unanswered {
  readonly #counts = new WeakMap<Socket, number>();

  /** Counts one until its answer is given. `false` when there are as many as may be. */
  add({ socket }: IncomingMessage, res: ServerResponse): boolean {
    const count = this.#counts.get(socket) ?? 0;
    if (count >= httpLimits.pipelinedMax) return false;
    this.#counts.set(socket, count + 1);
    res.once("close", () => this.#counts.set(socket, (this.#counts.get(socket) ?? 1) - 1));
    return true;
  }
}
