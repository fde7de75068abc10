/** Runs one call of a tool for a user: in the user's turn, under the lock, with a commit at the end. */
import { quoted } from "../shared/text.ts";
import type { LogEntry } from "./api.ts";
import type { CatalogTool } from "./catalog.ts";
import { causeLines } from "./cause-line.ts";
import type { Change } from "./change-set.ts";
import { encodeInput } from "./encode-input.ts";
import { grantFor } from "./grant.ts";
import type { LogLine } from "./guest/guest-log.ts";
import type { Pool } from "./pool.ts";
import type { HeldUser, HoldOptions, Store } from "./store/store.ts";
import { asToolError } from "./tool-error.ts";
import { resultOf } from "./tool-result.ts";
import type { ToolResult } from "./tool-result.ts";
import type { UserId } from "./user-id.ts";
import { UserQueue } from "./user-queue.ts";
import type { WorkerTask } from "./worker.ts";
import { writeLog } from "./write-log.ts";

export interface CallRunnerParts {
  readonly store: Store;
  readonly pool: Pool;
  readonly clock: () => number;
  readonly onLog: (entry: LogEntry) => void;
  /** How long a call waits for its turn. */
  readonly waitMs: number;
}

export interface RunOptions {
  /** Changes of the host's own that become durable together with the guest's. */
  readonly alsoCommit?: readonly Change[];
  /** Looks at the user's files as a crash has left them, and commits nothing. */
  readonly isLookingOnly?: boolean;
  /** Takes nothing for granted that the store remembers of the user. */
  readonly isThorough?: boolean;
}

/** How messages and the log name what is done. */
export interface HoldLabel {
  readonly action: string;
  readonly tool: string;
}

export class CallRunner {
  readonly #parts: CallRunnerParts;
  readonly #queue = new UserQueue();

  constructor(parts: CallRunnerParts) {
    this.#parts = parts;
  }

  /** Throws `ToolError` for what keeps the guest from running; what the guest answers is the result. */
  async run(found: CatalogTool, input: unknown, userId: UserId, options: RunOptions = {}): Promise<ToolResult> {
    const text = encodeInput(quoted(found.tool.name), input);
    const isLookingOnly = options.isLookingOnly === true;
    const writes = !isLookingOnly && found.tool.rights.some((right) => right === "write" || right === "trash");
    return await this.hold(
      { action: `call ${found.tool.name}`, tool: found.tool.name },
      userId,
      { writes, isLookingOnly, isThorough: options.isThorough === true },
      async (held) => {
        const task = this.#taskFor(found, text, userId);
        const { envelope, changes, seen, log } = await this.#parts.pool.run(task);
        this.#log(log, found.tool.name, userId);
        if (envelope.ok && writes) await held.commit([...changes, ...(options.alsoCommit ?? [])], seen);
        return resultOf(envelope);
      },
    );
  }

  /** Does the host's own work on a user's files, in the user's turn and under the lock. */
  async hold<Result>(
    { action, tool }: HoldLabel,
    userId: UserId,
    options: Omit<HoldOptions, "until">,
    work: (held: HeldUser) => Promise<Result>,
  ): Promise<Result> {
    const until = performance.now() + this.#parts.waitMs;
    return await this.#queue.run(userId, until, async () => {
      try {
        return await this.#parts.store.holdUser(userId, { ...options, until }, work);
      } catch (error) {
        const failure = asToolError(error, action);
        this.#log(causeLines([failure.cause]), tool, userId);
        throw failure;
      }
    });
  }

  /** Finishes what was begun, then ends what goes on in the background. */
  async close(): Promise<void> {
    await this.#queue.idle();
    await Promise.all([this.#parts.store.close(), this.#parts.pool.close()]);
  }

  #taskFor({ tool, moduleIndex }: CatalogTool, input: string, userId: UserId): WorkerTask {
    const epochMs = this.#parts.clock();
    if (!Number.isSafeInteger(epochMs) || Math.abs(epochMs) > dateMsMax) {
      throw new RangeError(`clock() returned ${epochMs}, not whole milliseconds`);
    }
    return { toolName: tool.name, moduleIndex, exportName: tool.export, input, grant: grantFor(tool, userId), epochMs };
  }

  #log(lines: readonly LogLine[], tool: string, userId: string): void {
    for (const line of lines) writeLog(this.#parts.onLog, { ...line, tool, userId });
  }
}

/** The last millisecond that a JavaScript date can name. */
const dateMsMax = 8.64e15;
