import { ToolError } from "./tool-error.ts";

/** Calls of one user run one at a time, in the order they came; calls of different users do not wait for each other. */
export class UserQueue {
  /** For each user who is being served, those who wait, in their order. */
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #onIdle: (() => void)[] = [];

  /** Does work when its turn has come; `BUSY` when that is not before `until`, on the clock of `performance.now()`. */
  async run<Result>(userId: string, until: number, work: () => Promise<Result>): Promise<Result> {
    await this.#turn(userId, until);
    try {
      return await work();
    } finally {
      this.#passOn(userId);
    }
  }

  /** Resolves when nothing is waiting or running any more. */
  async idle(): Promise<void> {
    if (this.#waiting.size > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  #turn(userId: string, until: number): Promise<void> {
    const line = this.#waiting.get(userId);
    if (line === undefined) {
      this.#waiting.set(userId, []);
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const start = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const waitMs = Math.max(0, until - performance.now());
      const timer = setTimeout(() => {
        line.splice(line.indexOf(start), 1);
        reject(new ToolError("BUSY", `Cannot call a tool: the user's earlier calls took over ${Math.ceil(waitMs)} ms`));
      }, waitMs);
      line.push(start);
    });
  }

  #passOn(userId: string): void {
    const next = this.#waiting.get(userId)?.shift();
    if (next) return next();
    this.#waiting.delete(userId);
    if (this.#waiting.size === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
  }
}
