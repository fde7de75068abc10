const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/** Aborts when the operating system asks the process to end; a second time, by whichever signal, it ends at once. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  const onSignal = (): void => {
    // Without a listener a signal does what it does.
    for (const name of signals) process.off(name, onSignal);
    stop.abort();
  };
  for (const name of signals) process.on(name, onSignal);
  return stop.signal;
}
