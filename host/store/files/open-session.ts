/** Takes a home's lock and opens its WAL. */
import type { Directory } from "../../disk/directory.ts";
import { isMissing } from "../../disk/disk-failure.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { HoldOptions } from "../holding.ts";
import { HomeFolder } from "./home-folder.ts";
import { lockHome } from "./home-lock.ts";
import type { HomeLock, LockRequest } from "./home-lock.ts";
import { checkOwner } from "./home-owner.ts";
import { HomeSession } from "./home-session.ts";
import { shownAs } from "./home.ts";
import type { SessionSetup } from "./session-setup.ts";

/** How to wait for a lock. */
export type Waiting = Omit<LockRequest, "shown">;

/** Only who writes makes a lock file, and needs a disk that can be written. */
export function waitingFor({ writes, isReadOnly = false, until, signal }: WaitingOptions): Waiting {
  return { make: writes, readOnlyWillDo: !writes, isReadOnly, until, signal };
}

type WaitingOptions = Pick<HoldOptions, "writes" | "isReadOnly" | "until" | "signal">;

type Setup = Omit<SessionSetup, "isOwned">;

interface Locked {
  readonly session: HomeSession;
  readonly own: Directory;
  /** Whether the owner was not read, because the folder is known. */
  readonly isRemembered: boolean;
}

/** How often the folder can be another one by the time its lock is there. */
const attemptsMax = 3;

/**
 * Returns `null` if there is nothing to lock, or the disk is read-only. If the folder was moved away before the lock was
 * there, because the user was erased, tries again with what is in its place. `setup` is called for each try.
 */
export async function openSession(setup: () => Setup, waiting: Waiting): Promise<HomeSession | null> {
  for (let attempt = 1; ; attempt++) {
    const present = setup();
    const locked = await lockFolder(present, waiting).catch((error: unknown) => {
      if (attempt < attemptsMax && hasGone(error)) return undefined;
      throw error;
    });
    if (locked === undefined) continue;
    if (locked === null) return null;
    const { session, own, isRemembered } = locked;
    try {
      if (session.isInPlace || attempt === attemptsMax) {
        if (!session.isInPlace) session.checkPlace();
        session.begin();
        // A new folder can have the number of the one that is remembered.
        if (isRemembered && session.wal?.isContinued !== true) checkOwner(own, present.home);
        return session;
      }
    } catch (error) {
      session[Symbol.dispose]();
      throw error;
    }
    session[Symbol.dispose]();
  }
}

/** Whether the folder was removed while the lock was opened in it. */
const hasGone = (error: unknown): boolean => error instanceof ToolError && isMissing(error.cause);

async function lockFolder(setup: Setup, waiting: Waiting): Promise<Locked | null> {
  const { home, memo } = setup;
  const folder = HomeFolder.open(home);
  let own: Directory | null;
  let lock: HomeLock | null;
  let isRemembered: boolean;
  let isOwned: boolean;
  try {
    own = folder?.openOwn() ?? null;
    isRemembered = own !== null && memo.ownedIdentity === own.identity;
    isOwned = isRemembered || checkOwner(own, home);
    memo.ownedIdentity = isOwned && own ? own.identity : null;
    lock = own && (await lockHome(own, { ...waiting, shown: shownAs[home.kind] }));
  } catch (error) {
    folder?.[Symbol.dispose]();
    throw error;
  }
  if (folder && own && lock && !lock.isReadOnly) {
    return { session: new HomeSession({ ...setup, isOwned }, folder, own, lock), own, isRemembered };
  }
  for (const each of [folder, lock]) each?.[Symbol.dispose]();
  return null;
}
