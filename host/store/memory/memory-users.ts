import { Slots } from "../../values/slots.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { UserId } from "../../values/user-id.ts";
import { HeldReads } from "../held-reads.ts";
import { planChanges, refuseBytes, refuseStale, untilFresh } from "../plan-changes.ts";
import type { HeldUser, HoldOptions, Store, StorePart } from "../store.ts";
import { UserFiles } from "./user-files.ts";

interface MemoryUser {
  readonly files: UserFiles;
  /** Of whoever holds the user. */
  readonly slot: Slots;
}

/** All users of one `memoryStore`, in the thread that has made it. Every runtime that was given it opens the same. */
export class MemoryUsers implements Store {
  readonly #users = new Map<UserId, MemoryUser>();

  async hold<Result>(userId: UserId, options: HoldOptions, work: (held: HeldUser) => Promise<Result>): Promise<Result> {
    return await untilFresh(() => this.#hold(userId, options, work));
  }

  /** One who has only been looked at is none. */
  async users(): Promise<UserId[]> {
    return Array.from(this.#users).flatMap(([userId, { files }]) => (files.scopes().length > 0 ? [userId] : []));
  }

  async parts(): Promise<readonly StorePart[]> {
    return [{ scopes: [] }];
  }

  async close(): Promise<void> {
    // Nothing goes on in the background, and what is kept is kept for other runtimes.
  }

  /** As it is now: for reads of a guest whose call holds the user. */
  filesOf(userId: UserId): UserFiles {
    return this.#users.get(userId)?.files ?? new UserFiles();
  }

  async #hold<Result>(
    userId: UserId,
    options: HoldOptions,
    work: (held: HeldUser) => Promise<Result>,
  ): Promise<Result> {
    const { until, signal } = options;
    signal?.throwIfAborted();
    const user = this.#users.get(userId) ?? { files: new UserFiles(), slot: new Slots(1) };
    this.#users.set(userId, user);
    await user.slot.take({ until, signal, tooLong });
    try {
      using reader = new HeldReads(() => user.files);
      return await work({
        reader,
        isApart: false,
        findings: async () => [],
        commit: async (changes, seen) => {
          if (changes.length === 0) return;
          if (options.isLookingOnly) throw new RangeError("Nothing can be committed by who only looks");
          const planned = planChanges(user.files, changes);
          refuseStale(planned, seen);
          refuseBytes(planned);
          user.files.apply(planned);
        },
      });
    } finally {
      if (!user.slot.give() && user.files.scopes().length === 0) this.#users.delete(userId);
    }
  }
}

const tooLong = (waitedMs: number): ToolError =>
  new ToolError("BUSY", `Cannot use the user's folder: it has been in use for ${waitedMs} ms`);
