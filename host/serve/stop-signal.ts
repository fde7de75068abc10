/** Aborts when the operating system asks the process to end; a second time it ends the process at once. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const name of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.once(name, () => stop.abort());
  return stop.signal;
}
