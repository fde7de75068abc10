/** Takes a home's lock and opens its WAL. */
import type { Directory } from "../../disk/directory.ts";
import { ToolError } from "../../values/tool-error.ts";
import type { HoldOptions } from "../holding.ts";
import { HomeFolder } from "./home-folder.ts";
import { lockHome } from "./home-lock.ts";
import type { LockRequest } from "./home-lock.ts";
import { checkOwner } from "./home-owner.ts";
import { HomeSession } from "./home-session.ts";
import { shownAs } from "./home.ts";
import { SessionPlace } from "./session-place.ts";
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

/** How often somebody can erase the user before this gives up. */
const attemptsMax = 20;

/**
 * Returns `null` if there is nothing to lock, or the disk is read-only. If the folder was moved away before the lock was
 * there, because the user was erased, tries again with what is in its place. `setup` is called for each try.
 */
export async function openSession(setup: () => Setup, waiting: Waiting): Promise<HomeSession | null> {
  for (let attempt = 1; ; attempt++) {
    const present = setup();
    const locked = await lockFolder(present, waiting, attempt === attemptsMax);
    if (locked === "moved") continue;
    if (locked === null) return null;
    const { session, own, isRemembered } = locked;
    try {
      session.begin();
      // A new folder can have the number of the one that is remembered.
      if (isRemembered && session.wal?.isContinued !== true) checkOwner(own, present.home);
      return session;
    } catch (error) {
      session[Symbol.dispose]();
      throw error;
    }
  }
}

/** `isLast`: throws instead of returning "moved". */
async function lockFolder(setup: Setup, waiting: Waiting, isLast: boolean): Promise<Locked | "moved" | null> {
  const folder = HomeFolder.open(setup.home);
  if (folder === null) return null;
  let locked: Locked | null = null;
  try {
    locked = await lockIn(folder, setup, waiting);
    if (locked === null) folder[Symbol.dispose]();
    else if (isLast) locked.session.place.check();
    else if (!locked.session.place.isHome) {
      locked.session[Symbol.dispose]();
      return "moved";
    }
    return locked;
  } catch (error) {
    const isMoved = !isLast && error instanceof ToolError && error.code === "STORAGE_FAILED" && hasMoved(folder);
    (locked?.session ?? folder)[Symbol.dispose]();
    if (isMoved) return "moved";
    throw error;
  }
}

/** Whether that is why its lock cannot be made: somebody is removing the folder already. */
function hasMoved(folder: HomeFolder): boolean {
  try {
    return !folder.isNamed;
  } catch {
    return false;
  }
}

async function lockIn(folder: HomeFolder, setup: Setup, waiting: Waiting): Promise<Locked | null> {
  const { home, memo } = setup;
  const own = folder.openOwn();
  const isRemembered = own !== null && memo.ownedIdentity === own.identity;
  const isOwned = isRemembered || checkOwner(own, home);
  memo.ownedIdentity = isOwned && own ? own.identity : null;
  const lock = own && (await lockHome(own, { ...waiting, shown: shownAs[home.kind] }));
  if (own && lock && !lock.isReadOnly) {
    const owned = { ...setup, isOwned };
    return { session: new HomeSession(owned, new SessionPlace(owned, folder, own, lock)), own, isRemembered };
  }
  lock?.[Symbol.dispose]();
  return null;
}
