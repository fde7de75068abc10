/** Does what is left to do when a user is erased: at once, at the next start, or when the doctor is asked to. */
import type { ErasedUser, LeftOver } from "../store/engine.ts";
import type { Store } from "../store/store.ts";
import { reasonOf, ToolError } from "../values/tool-error.ts";
import { revokeAll } from "./revoke-all.ts";
import type { Revoking } from "./revoke-all.ts";

/**
 * Files come first: on a full disk, nothing else can be changed before. Returns what is left, for another time. Throws only
 * the signal's reason: the erasure counts, whatever happens here.
 */
export async function finishErased(store: Store, erased: ErasedUser, revoking: Revoking): Promise<LeftOver[]> {
  const left: LeftOver[] = [];
  const attempt = async (work: () => Promise<LeftOver[]>): Promise<void> => {
    try {
      left.push(...(await work()));
    } catch (error) {
      revoking.signal?.throwIfAborted();
      if (!(error instanceof ToolError)) throw error;
      left.push({ path: `stores/${erased.store}`, reason: reasonOf(error) });
    }
  };
  await attempt(() => store.erased.removeFiles(erased, revoking.signal));
  await attempt(async () => {
    const unrevoked = await revokeAll(store, erased, revoking);
    // Also if some stores could not be read: with their hints, they would be left at each start.
    await store.erased.forget(erased, left.length + unrevoked.length === 0);
    return unrevoked;
  });
  return left;
}

/** Finishes, in the background, what processes have left that have ended. The audit log has it already. */
export class LeftOverErasures {
  readonly #store: Store;
  readonly #closing = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Never rejects. What cannot be finished now is left to the next start, and the doctor names it. */
  finish(): Promise<void> {
    this.#running = this.#finishAll().catch(() => {});
    return this.#running;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #finishAll(): Promise<void> {
    const { signal } = this.#closing;
    for (const erased of await this.#store.erased.list()) {
      signal.throwIfAborted();
      await finishErased(this.#store, erased, { until: performance.now(), signal, record: () => {} });
    }
  }
}
