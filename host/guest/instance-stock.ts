import { instantiatePlugin } from "./extism-plugin.ts";
import type { FreshInstance } from "./extism-plugin.ts";

/**
 * One instance that is made before a call asks for it, while the thread has nothing else to do: making one costs more
 * than most calls. It is of the module that was used last; for another one, the caller waits as without a stock.
 *
 * What is taken is gone: no instance is handed out twice.
 */
export class InstanceStock {
  #ready: { readonly module: WebAssembly.Module; readonly instance: Promise<FreshInstance> } | null = null;

  take(module: WebAssembly.Module): Promise<FreshInstance> {
    const ready = this.#ready;
    if (ready?.module !== module) return instantiatePlugin(module);
    this.#ready = null;
    return ready.instance;
  }

  /** Makes the next instance, after what the thread is doing now. */
  refillSoon(module: WebAssembly.Module): void {
    setImmediate(() => this.#refill(module));
  }

  #refill(module: WebAssembly.Module): void {
    if (this.#ready?.module === module) return;
    const instance = instantiatePlugin(module);
    this.#ready = { module, instance };
    // What fails now may work when it is needed; if not, that call tells why.
    instance.catch(() => {
      if (this.#ready?.instance === instance) this.#ready = null;
    });
  }
}
