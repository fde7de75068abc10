import type { UserId } from "../../values/user-id.ts";
import type { HeldUser, HoldOptions, MountLocation, Store, StorePart } from "../store.ts";

/** A mounted folder with a store of its own: its lock, its WAL, and what is remembered of it. */
interface Mounted extends MountLocation {
  readonly store: Store;
}

/** Sends what concerns a mounted scope to its folder, and everything else to the data folder. */
export class MountedStore implements Store {
  readonly #data: Store;
  readonly #mounted: readonly Mounted[];

  constructor(data: Store, mounted: readonly Mounted[]) {
    this.#data = data;
    this.#mounted = mounted;
  }

  hold<Result>(userId: UserId, options: HoldOptions, work: (held: HeldUser) => Promise<Result>): Promise<Result> {
    return this.#storeOf(userId, options.scopes ?? []).hold(userId, options, work);
  }

  async users(): Promise<UserId[]> {
    return [...new Set([...(await this.#data.users()), ...this.#mounted.map(({ userId }) => userId)])];
  }

  async parts(userId: UserId): Promise<readonly StorePart[]> {
    const mounted = this.#mounted.filter((each) => each.userId === userId);
    return [{ scopes: [] }, ...mounted.map(({ scope }) => ({ scopes: [scope] }))];
  }

  /** One after the other: each flushes files, which takes descriptors. */
  async close(): Promise<void> {
    for (const { store } of this.#mounted) await store.close();
    await this.#data.close();
  }

  #storeOf(userId: UserId, scopes: readonly string[]): Store {
    return mountOf(this.#mounted, userId, scopes)?.store ?? this.#data;
  }
}

/** Where a user's scopes are mounted; `null` where they lie in the data folder. */
export function mountOf<Mount extends MountLocation>(
  mounts: readonly Mount[],
  userId: UserId,
  scopes: readonly string[],
): Mount | null {
  const mount = mounts.find((each) => each.userId === userId && scopes.includes(each.scope));
  if (mount === undefined) return null;
  // What is changed in two places would not be changed at one stroke. No tool that is loaded asks for it.
  if (scopes.length > 1) throw new RangeError(`"${mount.scope}" is mounted, and was asked for with other scopes`);
  return mount;
}
