/** A user's work: replaces entries, one after the other, as fast as possible. */

export const entriesCount = 40;

/** The duration of the work. */
export interface Window {
  readonly windowMs: number;
}

export interface Worked {
  /** Milliseconds of each call. */
  readonly times: readonly number[];
  readonly elapsedMs: number;
}

/** Calls per second of all users. */
export function callsPerSecond(users: readonly Worked[]): number {
  return users.reduce((sum, { times, elapsedMs }) => sum + (times.length / elapsedMs) * 1000, 0);
}

/** Many simultaneous users, each with its own folder. */
export interface Crowd {
  readonly key: string;
  readonly name: string;
  /** Runs this many users at the same time. */
  work(usersCount: number, window: Window): Promise<Worked[]>;
  close(): Promise<void>;
}
