import type { BoundCapabilities } from "../../host/guest/capabilities/bind-capabilities.ts";
import { capabilityNames } from "../../shared/abi.ts";
import type { CallEnvironment } from "./sandbox/environment.ts";

/** Call times without the host's part, by contestant and round. */
export class OwnTimes {
  readonly #times = new Map<string, number[][]>();

  /** The rounds that count, in the form of `Times`. */
  get times(): ReadonlyMap<string, number[][]> {
    return this.#times;
  }

  async measure(
    { key, round }: { readonly key: string; readonly round: number },
    environment: CallEnvironment,
    run: (timed: CallEnvironment) => Promise<void>,
  ): Promise<void> {
    let hostMs = 0;
    const capabilities = timedCapabilities(environment.capabilities, (ms) => {
      hostMs += ms;
    });
    const startMs = performance.now();
    await run({ ...environment, capabilities });
    this.#add(key, round, performance.now() - startMs - hostMs);
  }

  #add(key: string, round: number, ms: number): void {
    if (round < 0) return;
    const rounds = this.#times.get(key) ?? [];
    this.#times.set(key, rounds);
    (rounds[round] ??= []).push(ms);
  }
}

function timedCapabilities(capabilities: BoundCapabilities, took: (ms: number) => void): BoundCapabilities {
  const timed = capabilityNames.map((name) => [
    name,
    (request: string) => {
      const startMs = performance.now();
      try {
        return capabilities[name](request);
      } finally {
        took(performance.now() - startMs);
      }
    },
  ]);
  return Object.fromEntries(timed) as BoundCapabilities;
}
