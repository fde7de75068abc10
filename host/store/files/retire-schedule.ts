import type { FileHome } from "./home.ts";

/**
 * How long after a user's last commit the WAL is retired. A crash before that costs a recovery, but no write is lost.
 */
const idleMs = 2_000;
/** How long closing waits for another process that holds a user. */
const closeWaitMs = 2_000;
/** How many users' files are flushed at once: each takes descriptors. */
const retiringMax = 4;

export interface RetireWork {
  /** Retires a user's WAL, unless another process holds the user for longer than `waitMs`. */
  readonly retire: (home: FileHome, waitMs: number) => Promise<void>;
  /** The same at the end of the process, if nobody holds the user. */
  readonly retireNow: (home: FileHome) => void;
  /** Reports a failure to the operator. Nothing is lost: the WAL stays. */
  readonly note: (home: FileHome, text: string) => void;
}

/** Retires WALs: after a user has been idle for a while, and all of them at the end. */
export class RetireSchedule {
  readonly #work: RetireWork;
  /** Users with records, by the time of their last commit; the longest idle come first. */
  readonly #used = new Map<string, { readonly home: FileHome; readonly atMs: number }>();
  readonly #running = new Map<string, Promise<void>>();
  #timer: NodeJS.Timeout | null = null;
  #offExit: (() => void) | null = null;
  #isClosing = false;

  constructor(work: RetireWork) {
    this.#work = work;
  }

  /** Notes that a user has committed. */
  noteUse(home: FileHome): void {
    this.#used.delete(home.key);
    this.add(home);
  }

  /** Notes that a user has records, perhaps from another process. A read does not delay the retirement. */
  add(home: FileHome): void {
    if (!this.#used.has(home.key)) this.#used.set(home.key, { home, atMs: performance.now() });
    this.#offExit ??= onExit((untilMs) => this.#retireAtExit(untilMs));
    this.#arm();
  }

  /** Nothing is left of a user that could be retired. */
  drop({ key }: FileHome): void {
    this.#used.delete(key);
  }

  /** Runs a user's retirement in the background. */
  run(home: FileHome, work: () => Promise<void>): void {
    const running = work()
      .catch((error: unknown) => this.#work.note(home, `the WAL could not be retired (${messageOf(error)})`))
      .finally(() => this.#running.delete(home.key));
    this.#running.set(home.key, running);
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    if (this.#timer) clearTimeout(this.#timer);
    await Promise.all(this.#running.values());
    for (const { home } of this.#used.values()) {
      this.run(home, () => this.#work.retire(home, closeWaitMs));
      await this.#running.get(home.key);
    }
    this.#used.clear();
    this.#forgetExit();
  }

  #forgetExit(): void {
    this.#offExit?.();
    this.#offExit = null;
  }

  #retireAtExit(untilMs: number): void {
    for (const { home } of this.#used.values()) {
      if (performance.now() >= untilMs) return;
      try {
        this.#work.retireNow(home);
      } catch {
        // The WAL stays, and the next start retires it.
      }
    }
  }

  #arm(): void {
    if (this.#timer || this.#isClosing || this.#used.size === 0) return;
    this.#timer = setTimeout(() => this.#sweep(), idleMs);
    // The process can end without waiting for this. Whoever uses the user next retires the WAL.
    this.#timer.unref();
  }

  #sweep(): void {
    this.#timer = null;
    const limit = performance.now() - idleMs;
    for (const [key, { home, atMs }] of this.#used) {
      if (atMs > limit || this.#running.size >= retiringMax) break;
      this.#used.delete(key);
      if (!this.#running.has(key)) this.run(home, () => this.#work.retire(home, 0).finally(() => this.#sweepSoon()));
    }
    if (this.#used.size === 0) this.#forgetExit();
    this.#arm();
  }

  /** Called when there is room for the next user. */
  #sweepSoon(): void {
    if (this.#isClosing) return;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#sweep(), 0);
    this.#timer.unref();
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : "unknown reason");

/**
 * Retires WALs when the process ends without closing its stores: by returning, by `process.exit` or by an exception that
 * nobody catches. Then nothing asynchronous runs any more. A signal or a kill ends a process without this.
 */

/** How long the end of a process may be delayed. What is left over is retired at the next start. */
const budgetMs = 2_000;

type Retire = (untilMs: number) => void;

const atExit = new Set<Retire>();

/** Calls `retire` when the process ends, until the returned function is called. */
function onExit(retire: Retire): () => void {
  if (atExit.size === 0) process.on("exit", retireAll);
  atExit.add(retire);
  return () => {
    atExit.delete(retire);
    if (atExit.size === 0) process.off("exit", retireAll);
  };
}

function retireAll(): void {
  const untilMs = performance.now() + budgetMs;
  for (const retire of atExit) retire(untilMs);
}
