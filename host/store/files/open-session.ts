/** Takes a home's lock: to work there in a session, or only to read. */
import type { Directory } from "../../disk/directory.ts";
import { isForbidden } from "../../disk/disk-failure.ts";
import { ToolError } from "../../values/tool-error.ts";
import { judgeFiles } from "./commit/judge-files.ts";
import { checkOwner } from "./home-owner.ts";
import { HomeSession } from "./home-session.ts";
import { shownAs } from "./home.ts";
import type { FileHome } from "./home.ts";
import { JournalDamaged } from "./journal/format.ts";
import { openHistory } from "./journal/history.ts";
import { isOfOtherBoot } from "./journal/read-journal.ts";
import type { JournalTail } from "./journal/read-journal.ts";
import { HomeFolder, ScopeFolders } from "./scope-folders.ts";
import { SessionPlace, lockHome } from "./session-place.ts";
import type { SessionSetup, Waiting } from "./session-place.ts";

/**
 * Takes the lock and opens the journal; `null` if there is nothing to lock, or the disk is read-only. "moved": the folder was
 * moved away before the lock was there; with `isLast`, that throws.
 */
export async function openSession(
  setup: SessionSetup,
  waiting: Waiting,
  isLast: boolean,
): Promise<HomeSession | "moved" | null> {
  const { memo } = setup;
  const { home } = memo;
  const folder = HomeFolder.open(home);
  if (folder === null) return null;
  let session: HomeSession | null = null;
  try {
    const own = folder.openOwn();
    const isRemembered = own !== null && memo.ownedIdentity === own.identity;
    const isOwned = isRemembered || checkOwner(own, home);
    const lock = own && (await lockHome(own, home, waiting));
    memo.ownedIdentity = isOwned && own ? own.identity : null;
    if (own === null || lock === null || lock.isReadOnly) {
      for (const each of [lock, folder]) each?.[Symbol.dispose]();
      return null;
    }
    session = new HomeSession(new SessionPlace(setup, folder, own, lock));
    if (isLast) session.place.check();
    // Who held the lock before has perhaps moved the folder away.
    else if (!(lock.hasWaited ? folder.isUnchanged() : folder.isNamed)) {
      session[Symbol.dispose]();
      return "moved";
    }
    session.begin();
    // A new folder can have the number of the one that is remembered.
    if (isRemembered && session.place.journal?.isContinued !== true) checkOwner(own, home);
    return session;
  } catch (error) {
    const isMoved = !isLast && error instanceof ToolError && error.code === "STORAGE_FAILED" && hasMoved(folder);
    (session ?? folder)[Symbol.dispose]();
    if (isMoved) return "moved";
    throw error;
  }
}

/** Closes a session if work in it fails. */
export async function orDispose<Result>(session: HomeSession, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    session[Symbol.dispose]();
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

/** Takes the lock and changes nothing. A home that cannot be used as it is needs none. */
export async function lockOnly(home: FileHome, waiting: Waiting): Promise<Disposable | null> {
  try {
    using folder = HomeFolder.open(home);
    const own = folder?.openOwn() ?? null;
    return own && (await lockHome(own, home, { ...waiting, readOnlyWillDo: true }));
  } catch (error) {
    if (error instanceof ToolError && (error.code === "STORAGE_UNSAFE" || isForbidden(error))) return null;
    throw error;
  }
}

/** A home that is held for reading, until it is disposed of. */
export interface FinishedHome extends Disposable {
  /** A disk that cannot be written has perhaps no lock. */
  readonly isLocked: boolean;
  /** `null` if there is no journal. */
  readonly tail: JournalTail | null;
}

/**
 * Takes a home's lock and writes nothing; `null` if there is no folder. Others can read at the same time. Throws
 * `STORAGE_FAILED` if a crash has left something that recovery would finish: a read would see a change half done, or miss
 * one that was acknowledged. `boot` is the machine's boot id.
 */
export async function lockFinished(
  home: FileHome,
  waiting: Pick<Waiting, "until" | "signal">,
  boot: string | null,
): Promise<FinishedHome | null> {
  using folder = HomeFolder.open(home);
  const own = folder?.openOwn() ?? null;
  if (folder === null || own === null) return null;
  const lock = await lockHome(own, home, { ...waiting, make: false, readOnlyWillDo: true, isReadOnly: true });
  try {
    const tail = finishedTail(home, { inside: folder.home, own }, boot);
    return { isLocked: lock !== null, tail, [Symbol.dispose]: () => lock?.[Symbol.dispose]() };
  } catch (error) {
    lock?.[Symbol.dispose]();
    // What a damaged journal said is unknown.
    throw error instanceof JournalDamaged ? unfinished(home) : error;
  }
}

/** Throws `STORAGE_FAILED` if recovery would change a file that a read can see. */
function finishedTail(
  home: FileHome,
  { inside, own }: { readonly inside: Directory; readonly own: Directory },
  boot: string | null,
): JournalTail | null {
  const { journal, log } = openHistory(own, home);
  using _journal = journal;
  const unsettled = journal ?? log;
  if (unsettled === null) return null;
  const { frames, isDistrusted } = unsettled;
  if (isDistrusted || isOfOtherBoot(frames, boot)) {
    using folders = new ScopeFolders(inside, home);
    const judged = judgeFiles({ own, folders, frames });
    if (judged.some(({ verdict }) => verdict === "put back" || verdict === "removed")) throw unfinished(home);
  } else if (frames.at(-1)?.isApplied === false) throw unfinished(home);
  return journal?.tail ?? null;
}

const unfinished = ({ kind }: FileHome): ToolError =>
  new ToolError(
    "STORAGE_FAILED",
    `Cannot read ${shownAs[kind]}: an interrupted change is unfinished, which a read-only runtime leaves to others ` +
      '("memcell doctor --fix" finishes it)',
  );
