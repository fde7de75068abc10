import { clearTrail, closeTrail, runningMs } from "../audit/collect/trail-memory.ts";
import type { Trail } from "../audit/collect/trail-memory.ts";
import type { ThreadTask } from "./bounded-task.ts";

/** A task that the pool has accepted. Its thread's trail is its own from `begin` until the next task's `begin`. */
export class StartedTask<Reply> implements ThreadTask {
  readonly reply: Promise<Reply>;
  readonly kill: () => void;
  /** Set if the thread was terminated: resolves when another one is ready in its place. */
  replaced: Promise<void> | null = null;
  #trail: Trail | null = null;
  #isClosed = false;

  /** `run` gives the task to the pool, which calls `begin` at once or later. */
  constructor(run: (begin: (trail: Trail) => void) => Promise<Reply>, kill: () => void) {
    this.kill = kill;
    this.reply = run((trail) => this.#begin(trail));
  }

  /** What the guest has done; `null` as long as no thread has the task. */
  get trail(): Trail | null {
    return this.#trail;
  }

  runningMs(): number | null {
    return this.#trail && runningMs(this.#trail);
  }

  close(): void {
    this.#isClosed = true;
    if (this.#trail !== null) closeTrail(this.#trail);
  }

  /** The thread is about to get the task, and has no other. */
  #begin(trail: Trail): void {
    clearTrail(trail);
    if (this.#isClosed) closeTrail(trail);
    this.#trail = trail;
  }
}
