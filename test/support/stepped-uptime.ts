/** Lets this process seem to have been running for longer: `performance.now` is the clock that no jump of the system's changes. */
export interface SteppedUptime extends Disposable {
  step(byMs: number): void;
}

export function steppedUptime(): SteppedUptime {
  const now = performance.now.bind(performance);
  let addedMs = 0;
  performance.now = () => now() + addedMs;
  return {
    step: (byMs) => {
      addedMs += byMs;
    },
    [Symbol.dispose]: () => {
      performance.now = now;
    },
  };
}
