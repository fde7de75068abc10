import type { EndSignal } from "./call-ending.ts";

/** The turn of a call that can ask the embedding program. */
export interface AskingTurn {
  /** When the call stops waiting, on the clock of `performance.now()`. Can become later: see `askProgram`. */
  readonly until: number;
  /** Aborted when the call is to end. Its reason is a `ToolError`. */
  readonly signal: EndSignal;
  /**
   * Asks the program. For calls that hold no files, stores, connections and threads; their place among the users that are
   * served goes to others. What the program calls meanwhile for the same user runs in this turn. `isWaiting`: the time
   * counts as waiting; otherwise `until` is later by it.
   *
   * Throws `BUSY` if the program is being asked about the user already, by the call that this one is made for.
   */
  askProgram<Answer>(ask: () => Promise<Answer>, options: { readonly isWaiting: boolean }): Promise<Answer>;
}
