import { setImmediate } from "node:timers/promises";

import { threadLimits } from "../../shared/limits.ts";
import { GuestInstance } from "./extism-plugin.ts";
import type { GuestConfig } from "./extism-plugin.ts";
import type { GuestModule } from "./guest-module.ts";

/**
 * The pristine instances of one thread, one for each module. The thread creates or restores them while it has nothing
 * else to do, before a call needs them.
 *
 * An instance that is taken is out of the stock until it is restored or replaced, so no call finds data of another.
 */
export class InstanceStock {
  readonly #ready = new Map<GuestModule, Promise<GuestInstance>>();
  readonly #config: GuestConfig;
  readonly #reuses: boolean;

  /** Without `reuses`, an instance never serves a second call. */
  constructor(config: GuestConfig, reuses: boolean) {
    this.#config = config;
    this.#reuses = reuses;
  }

  take(guest: GuestModule): Promise<GuestInstance> {
    const ready = this.#ready.get(guest);
    this.#ready.delete(guest);
    return ready ?? GuestInstance.create(guest, this.#config);
  }

  /** Prepares an instance for the next call, after the current work. `used` has served this call. */
  refillSoon(guest: GuestModule, used: GuestInstance | null): void {
    if (this.#ready.has(guest)) return;
    const instance = setImmediate().then(() => this.#next(guest, used));
    this.#ready.set(guest, instance);
    this.#forgetOldest();
    // A failure is ignored here: the next call tries again and reports it.
    instance.catch(() => {
      if (this.#ready.get(guest) === instance) this.#ready.delete(guest);
    });
  }

  /** Keeps the instances of the plugins that were called last. */
  #forgetOldest(): void {
    const [oldest] = this.#ready.keys();
    if (oldest !== undefined && this.#ready.size > threadLimits.instancesMax) this.#ready.delete(oldest);
  }

  async #next(guest: GuestModule, used: GuestInstance | null): Promise<GuestInstance> {
    if (used && this.#reuses && (await used.restore())) return used;
    return await GuestInstance.create(guest, this.#config);
  }
}
