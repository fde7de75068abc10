/** Runs of one user, through the whole stack. */
import type { Runtime } from "memcell";

import { eventsFrom } from "./event.ts";
import type { RunEvent } from "./event.ts";

/** Fits into a call's input. */
const batchMax = 500;

interface Page {
  readonly events: readonly unknown[];
  readonly more: boolean;
  readonly meta: { readonly cursor: string };
}

export interface LoadedRun {
  readonly events: readonly unknown[];
  /** For `load`, to continue here. */
  readonly cursor: string;
}

export class OurRuns {
  readonly #runtime: Runtime;
  readonly #userId: string;

  constructor(runtime: Runtime, userId: string) {
    this.#runtime = runtime;
    this.#userId = userId;
  }

  async append(run: string, events: readonly RunEvent[]): Promise<void> {
    const given = events.map(({ type, timestamp, data, labels }) => {
      return { type, timestamp, data: JSON.stringify(data), labels };
    });
    await this.#call("AppendRunEvents", { runId: run, events: given });
  }

  /** Adds events, as many to a call as fit. */
  async fill(run: string, first: number, count: number): Promise<void> {
    for (let at = 0; at < count; at += batchMax) {
      await this.append(run, eventsFrom(first + at, Math.min(batchMax, count - at)));
    }
  }

  /** All pages. */
  async load(run: string, since?: string): Promise<LoadedRun> {
    const events: unknown[] = [];
    for (let cursor = since; ;) {
      const page = (await this.#call("LoadRun", { runId: run, cursor })) as Page;
      events.push(...page.events);
      cursor = page.meta.cursor;
      if (!page.more) return { events, cursor };
    }
  }

  async #call(tool: string, input: object): Promise<unknown> {
    const result = await this.#runtime.callAsHost(tool, { agentId: "planner", ...input }, { userId: this.#userId });
    if (!result.ok) throw new Error(result.error.message);
    return result.data;
  }
}
