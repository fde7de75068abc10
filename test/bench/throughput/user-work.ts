/** What a user does for a while: replace entries, one after the other, as fast as it goes. */

export const entriesCount = 40;

/** How long. */
export interface Window {
  readonly windowMs: number;
}

export interface Worked {
  /** Milliseconds of each call. */
  readonly times: readonly number[];
  readonly elapsedMs: number;
}

/** Calls of all users in a second. */
export function callsPerSecond(users: readonly Worked[]): number {
  return users.reduce((sum, { times, elapsedMs }) => sum + (times.length / elapsedMs) * 1000, 0);
}

/** Many users at once, each in a folder of its own. */
export interface Crowd {
  readonly key: string;
  readonly name: string;
  /** So many of the users work at once. */
  work(usersCount: number, window: Window): Promise<Worked[]>;
  close(): Promise<void>;
}
