import { setImmediate } from "node:timers/promises";

import { threadLimits } from "../../shared/limits.ts";
import { GuestInstance } from "./extism-plugin.ts";
import type { GuestConfig } from "./extism-plugin.ts";
import type { GuestModule } from "./guest-module.ts";

/**
 * The pristine instances of one thread: one for each module, made or made pristine again before a call asks for it,
 * while the thread has nothing else to do.
 *
 * What is taken is gone until it comes back, and then it is pristine or thrown away: no call finds what another left.
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

  /**
   * Has an instance ready for the next call, after what the thread is doing now. `used` is the one that served this
   * call, if there was one.
   */
  refillSoon(guest: GuestModule, used: GuestInstance | null): void {
    if (this.#ready.has(guest)) return;
    const instance = setImmediate().then(() => this.#next(guest, used));
    this.#ready.set(guest, instance);
    this.#forgetOldest();
    // What fails now may work when it is needed; if not, that call tells why.
    instance.catch(() => {
      if (this.#ready.get(guest) === instance) this.#ready.delete(guest);
    });
  }

  /** Of more plugins than that, those are ready that were called last. */
  #forgetOldest(): void {
    const [oldest] = this.#ready.keys();
    if (oldest !== undefined && this.#ready.size > threadLimits.instancesMax) this.#ready.delete(oldest);
  }

  async #next(guest: GuestModule, used: GuestInstance | null): Promise<GuestInstance> {
    if (used && this.#reuses && (await used.restore())) return used;
    return await GuestInstance.create(guest, this.#config);
  }
}
