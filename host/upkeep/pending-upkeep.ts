import type { CallContext } from "../values/call-context.ts";
import type { Approval, ShownWrite, WaitingWrite } from "./waiting-write.ts";

/** What the owner of the memory can do with the writes that wait. See `Upkeep` for what all operations have in common. */
export interface PendingUpkeep {
  /**
   * Returns the writes that wait for the owner of the memory, the oldest first: those of calls whose text the policy does
   * not let take effect at once. They are in no index, read, list or search, and end after 30 days: then they are hidden, and
   * removed once a later reading of the clock agrees. At most 100 of a user wait, and 20 of a run, whose records have at
   * most 16 MiB together, and 4 MiB those of a run. What is more is `QUOTA_EXCEEDED` for the call.
   *
   * @example
   * for (const { id, tool, trust, files } of await runtime.upkeep.pending({ userId: "alice" })) {
   *   console.log(id, tool, trust, files.map(({ path }) => path).join(", "));
   * }
   */
  pending(ctx: CallContext): Promise<WaitingWrite[]>;

  /**
   * Returns a write that waits, beside the present files. Rejects with `ENTRY_NOT_FOUND` if none waits under this id; of the
   * last 200 decisions about the user's writes, the message says what has become of it.
   */
  showPending(ctx: CallContext, id: string): Promise<ShownWrite>;

  /**
   * Applies a write that waits, as it was shown, byte for byte: its call runs again, with the same input and at the same
   * time. From then on its files are trusted as the owner's. If the files that it changes have changed since, nothing is
   * applied, and it waits again under another id, as it would be now. Only the plugin's own index can differ.
   *
   * Of several decisions about a write, by any host, the first counts. The others reject with `ENTRY_NOT_FOUND`, and are told
   * what has become of it, as by `showPending`: it was approved or rejected, at a time, or waits under another id.
   *
   * Rejects with `ENTRY_NOT_FOUND` if none waits under this id, with `TOOL_UNKNOWN` if its plugin is not loaded, and with
   * the tool's own failure, such as `NAME_CONFLICT`: then it still waits.
   *
   * @example
   * const [first] = await runtime.upkeep.pending({ userId: "alice" });
   * if (first !== undefined) console.log((await runtime.upkeep.approve({ userId: "alice" }, first.id)).applied);
   */
  approve(ctx: CallContext, id: string): Promise<Approval>;

  /** Drops a write that waits, for good. Rejects with `ENTRY_NOT_FOUND` if none waits under this id, as `approve`. */
  reject(ctx: CallContext, id: string): Promise<WaitingWrite>;
}
