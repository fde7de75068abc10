import { Slots } from "../values/slots.ts";
import type { Patience } from "../values/slots.ts";

/** Calls of one user run one at a time, in the order they came; calls of different users do not wait for each other. */
export class UserQueue {
  /** The one slot of each user who is being served. */
  readonly #turns = new Map<string, Slots>();

  /** Does work when its turn has come. */
  async run<Result>(userId: string, patience: Patience, work: () => Promise<Result>): Promise<Result> {
    patience.signal?.throwIfAborted();
    const turn = this.#turns.get(userId) ?? new Slots(1);
    this.#turns.set(userId, turn);
    await turn.take(patience);
    try {
      return await work();
    } finally {
      if (!turn.give()) this.#turns.delete(userId);
    }
  }
}
