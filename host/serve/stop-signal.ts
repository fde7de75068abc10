const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/** Aborts at the first stop signal to the process. Any second one ends the process at once. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  const onSignal = (): void => {
    // Without listeners, a signal has its default effect.
    for (const name of signals) process.off(name, onSignal);
    stop.abort();
  };
  for (const name of signals) process.on(name, onSignal);
  return stop.signal;
}
