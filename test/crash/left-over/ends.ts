/** How a process ends that has not closed its store. */
export const ends = {
  /** Nothing is left to do. */
  return: () => {},
  "process.exit": () => process.exit(0),
  signal: () => process.kill(process.pid, "SIGTERM"),
  kill: () => process.kill(process.pid, "SIGKILL"),
} as const;

export type End = keyof typeof ends;
