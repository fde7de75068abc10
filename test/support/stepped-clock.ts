/** Sets the system's clock, as this process reads it, until it is disposed of. Timers and `performance.now` go on. */
export function steppedClock(byMs: number): Disposable {
  const now = Date.now;
  const Original = Date;
  class Stepped extends Original {
    constructor(...args: readonly unknown[]) {
      super(...((args.length === 0 ? [now() + byMs] : args) as [number]));
    }

    static override now(): number {
      return now() + byMs;
    }
  }
  globalThis.Date = Stepped as DateConstructor;
  return {
    [Symbol.dispose]: () => {
      globalThis.Date = Original;
    },
  };
}
