/** Takes a home's lock and opens its WAL. */
import type { Directory } from "../../disk/directory.ts";
import { ToolError } from "../../values/tool-error.ts";
import { WalDamaged, isOfOtherBoot } from "./commit/find-records.ts";
import type { WalTail } from "./commit/find-records.ts";
import { judgeFiles } from "./commit/judge-files.ts";
import { Wal } from "./commit/wal.ts";
import { HomeFolder } from "./home-folder.ts";
import { lockHome } from "./home-lock.ts";
import type { LockRequest } from "./home-lock.ts";
import { checkOwner } from "./home-owner.ts";
import { HomeSession } from "./home-session.ts";
import { shownAs } from "./home.ts";
import type { FileHome } from "./home.ts";
import { ScopeFolders } from "./scope-folders.ts";
import { SessionPlace } from "./session-place.ts";
import type { SessionSetup } from "./session-setup.ts";

/** How to wait for a lock. */
export type Waiting = Omit<LockRequest, "shown">;

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

/**
 * Takes a home's lock and writes nothing; `null` if there is no folder. Others can read at the same time. Throws
 * `STORAGE_FAILED` if a crash has left something that recovery would finish: a read would see a change half done, or miss
 * one that was acknowledged. `boot` is the machine's boot id.
 */
export async function lockFinished(
  home: FileHome,
  waiting: Pick<LockRequest, "until" | "signal">,
  boot: string | null,
): Promise<FinishedHome | null> {
  using folder = HomeFolder.open(home);
  const own = folder?.openOwn() ?? null;
  if (folder === null || own === null) return null;
  const shown = shownAs[home.kind];
  const lock = await lockHome(own, { ...waiting, shown, make: false, readOnlyWillDo: true, isReadOnly: true });
  try {
    const { isUnfinished, tail } = look(home, { inside: folder.home, own }, boot);
    if (isUnfinished) throw unfinished(shown);
    return { isLocked: lock !== null, tail, [Symbol.dispose]: () => lock?.[Symbol.dispose]() };
  } catch (error) {
    lock?.[Symbol.dispose]();
    throw error;
  }
}

/** A home that is held for reading, until it is disposed of. */
export interface FinishedHome extends Disposable {
  /** A disk that cannot be written has perhaps no lock. */
  readonly isLocked: boolean;
  /** `null` if there is no WAL. */
  readonly tail: WalTail | null;
}

const unfinished = (shown: string): ToolError =>
  new ToolError(
    "STORAGE_FAILED",
    `Cannot read ${shown}: an interrupted change is unfinished, which a read-only runtime leaves to others ` +
      '("memcell doctor --fix" finishes it)',
  );

interface HomeParts {
  readonly inside: Directory;
  /** The host's own folder. */
  readonly own: Directory;
}

interface Looked {
  /** Whether recovery would change a file that a read can see. */
  readonly isUnfinished: boolean;
  readonly tail: WalTail | null;
}

function look(home: FileHome, { inside, own }: HomeParts, boot: string | null): Looked {
  try {
    using wal = Wal.open(own, home, { isRead: true });
    if (wal === null) return { isUnfinished: false, tail: null };
    const { tail } = wal;
    if (!wal.isDistrusted && !isOfOtherBoot(wal.records, boot)) {
      return { isUnfinished: wal.records.at(-1)?.isApplied === false, tail };
    }
    using folders = new ScopeFolders(inside, { kind: home.kind, folds: new Map() });
    const judged = judgeFiles({ own, folders, wal });
    return { isUnfinished: judged.some(({ verdict }) => verdict === "put back" || verdict === "removed"), tail };
  } catch (error) {
    // What it said is unknown.
    if (error instanceof WalDamaged) return { isUnfinished: true, tail: null };
    throw error;
  }
}
