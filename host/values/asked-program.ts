/** What a runtime asks the program that embeds it: whether a write waits, and whether a caller reaches a store. */
import type { OriginClass } from "../../shared/origin.ts";
import type { AccessLevel } from "../../shared/shared-scope.ts";
import type { StatedOrigin } from "./origin.ts";
import type { EndSignal } from "./turns.ts";

/** One file that a call wants to write or to move to the trash. */
export interface WrittenFile {
  readonly scope: string;
  readonly path: string;
  /** The new text; `null` if the file is moved to the trash. */
  readonly text: string | null;
}

/** What a call wants to write. */
export interface AskedWrite {
  readonly userId: string;
  readonly tool: string;
  readonly plugin: string;
  /** What the program said of the call. */
  readonly origin: Pick<StatedOrigin, "class" | "run" | "turn" | "source">;
  readonly trust: OriginClass;
  /** In the order of the writes. The plugin's own index can be among them. */
  readonly files: readonly WrittenFile[];
}

/**
 * Looks at a write. `raise`: the write waits for the owner of the memory. `ok`: the policy alone decides, as without a
 * hook: no hook makes a write take effect that waits or is refused. A hook that throws, answers anything else, or takes
 * longer than 5 seconds raises, and the operator's log says why. The call's signal and `close()` end the wait.
 *
 * Meanwhile the call holds no files, no store, no thread and no connection to a database; only the user's other calls
 * wait. Then the call runs again, at the same time of its clock. What it writes then takes effect if it is, byte for byte
 * and made from the same files, what the hook was shown; only what the plugin makes from its files, such as an index, can
 * have others' entries by then. Otherwise the hook is asked about what would be written now. A call that would have to ask
 * a fifth time is `BUSY`. An answer counts for its call alone.
 *
 * A hook may call the runtime: for other users, and to read what the same user has. A write of the same user, of which it
 * would be asked again, is `BUSY` at once.
 *
 * @example
 * const onWrite: WriteHook = ({ files }) => (files.some(({ text }) => text?.includes("always")) ? "raise" : "ok");
 * const runtime = await createRuntime({ dataDir: "data", onWrite });
 * await runtime.close();
 */
export type WriteHook = (write: AskedWrite) => "ok" | "raise" | Promise<"ok" | "raise">;

/**
 * Says whether a caller reaches a store without a grant, because it is in a chat or works for a user. Called for each
 * store that a call names or its context has, and again before the call's result counts, so whoever leaves a chat is out
 * at once. An answer counts for one call, and for 5 seconds: a call that has not ended by then asks again. Can be called
 * for several stores at a time.
 *
 * While it answers, the call holds no files, no store, no thread and no connection to a database; only the user's other
 * calls wait. It may call the runtime, also for this user, but for nothing that would ask it about this user again: that
 * is `BUSY` at once.
 *
 * Returns what the caller has to do with the store, or `null`. If it throws or returns anything else, the call fails
 * with `INTERNAL`. If it takes longer than the call may wait (`waitMs`), the call fails with `BUSY`.
 *
 * @example
 * const contextualAccess = async (storeId, { userId }) => (await chats.has(storeId, userId)) ? { kind: "chat" } : null;
 */
export type ContextualAccess = (
  storeId: string,
  caller: { readonly userId: string },
) => Promise<ContextualKind | null> | ContextualKind | null;

export interface ContextualKind {
  readonly kind: "chat" | "user";
  /** Default: `readwrite`. */
  readonly level?: AccessLevel | undefined;
}

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
