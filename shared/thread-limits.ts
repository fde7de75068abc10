/** The threads that run guests. */
export const threadLimits = {
  /** How long an idle thread is kept. */
  idleMs: 60_000,
  /**
   * How long a thread can take to start before another one is started beside it, for the calls that wait. It is ten times
   * what a start takes.
   */
  slowStartMs: 1_500,
  /** How long a thread can take to start at all. Where this is too short, no call would end in its deadline either. */
  startMs: 10_000,
  /** How long after a failed start the next one is tried, as long as other threads serve the calls. */
  retryMs: 1_000,
  /** How long a new thread waits before it makes instances in advance. A runtime made for one call sends it sooner. */
  quietMs: 50,
  /** Ready instances in a thread, one for each plugin. Each takes its module's initial memory and up to 1.1 MB. */
  instancesMax: 4,
  /** How long a guest whose call has ended can go on before its thread is terminated. */
  lingerMs: 50,
} as const;
