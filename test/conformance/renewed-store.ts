/** A store that one runtime keeps for many vectors. It wraps a new store for each of them. */
import type { StoreDefinition } from "memcell";

import type { Engine, NoteOfUser, ReadBridge, StoreSettings } from "../stage/store.ts";

/** Opens a definition's store while it is in use. A closed store's memory can still be read through its definition. */
export class RenewedStore {
  readonly #bridges: ReadBridge[] = [];
  #present: StoreDefinition;
  #engine: Engine | null = null;
  #note: NoteOfUser = () => {};
  #settings: StoreSettings | undefined;
  #isEnded = false;
  /** Uses after `end()`: a call went on after its answer. */
  lateUses = 0;

  constructor(first: StoreDefinition) {
    this.#present = first;
  }

  /** Threads read from the first store's location, so all others must have the same. No call may be running. */
  async renew(next: StoreDefinition): Promise<void> {
    await this.end();
    this.#present = next;
    this.#isEnded = false;
    for (const bridge of this.#bridges) this.#answer(bridge);
  }

  /** Closes the present store and waits for its background work. */
  async end(): Promise<void> {
    this.#isEnded = true;
    await this.#engine?.close();
    this.#engine = null;
  }

  get definition(): StoreDefinition {
    const opened = (): Engine => {
      if (!this.#isEnded) return (this.#engine ??= this.#present.open(this.#note, this.#settings));
      this.lateUses += 1;
      throw new Error("A call uses the store after its answer");
    };
    return {
      ...this.#present,
      answerReads: this.#present.answerReads && ((bridge) => this.#connect(bridge)),
      open: (note, settings) => {
        this.#note = note;
        this.#settings = settings;
        return through({ close: () => this.end() }, opened);
      },
    };
  }

  #connect(bridge: ReadBridge): void {
    this.#bridges.push(bridge);
    this.#answer(bridge);
  }

  #answer(bridge: ReadBridge): void {
    bridge.port.removeAllListeners("message");
    this.#present.answerReads?.(bridge);
  }
}

/** Has `own`, and otherwise all that the object has at the moment that is asked for. */
function through<Whole extends object>(own: Partial<Whole>, present: () => Whole): Whole {
  return new Proxy(own as Whole, {
    get: (_, name): unknown => {
      if (name in own) return Reflect.get(own, name);
      const value: unknown = Reflect.get(present(), name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]): unknown =>
        Reflect.apply(Reflect.get(present(), name) as () => unknown, present(), args);
    },
  });
}
