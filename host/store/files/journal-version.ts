import type { Directory } from "../../disk/directory.ts";
import { ToolError } from "../../values/tool-error.ts";
import { giveTurn } from "../../values/turns.ts";
import { isStagedName } from "./commit/apply-files.ts";
import { isMarked } from "./erase-mark.ts";
import type { FileHome } from "./home.ts";
import type { Homes } from "./homes.ts";
import { readOldLog } from "./journal/format-3-log.ts";
import { JournalDamaged } from "./journal/format.ts";
import { Journal } from "./journal/journal.ts";
import { isSameTail } from "./journal/read-journal.ts";
import type { JournalTail } from "./journal/read-journal.ts";
import { HomeFolder } from "./scope-folders.ts";
import type { Waiting } from "./session-place.ts";

/** The version of a home's files, as its journal shows it: every change appends a frame before it changes a file. */
interface HomeVersion {
  /** `null` if nobody has committed to the home. */
  readonly tail: JournalTail | null;
  /** Then the identity of its folder, which a person has made; else `null`. */
  readonly folder: string | null;
}

/** By the keys of homes. */
export type Versions = ReadonlyMap<string, { readonly home: FileHome; readonly version: HomeVersion }>;

/**
 * Notes each home's version, after recovery. Takes a lock only if there is something to finish or to remember, and one
 * lock at a time: whether a version has changed shows later.
 */
export async function versionsOf(homes: Homes, all: readonly FileHome[], waiting: Waiting): Promise<Versions> {
  const versions = new Map<string, { readonly home: FileHome; readonly version: HomeVersion }>();
  for (const home of all) {
    await giveTurn();
    const version = versionAtRest(home, homes.tailOf(home)) ?? (await versionUnderLock(homes, home, waiting));
    versions.set(home.key, { home, version });
  }
  return versions;
}

async function versionUnderLock(homes: Homes, home: FileHome, waiting: Waiting): Promise<HomeVersion> {
  if (waiting.isReadOnly) {
    using _lock = await homes.lockFinished(home, waiting);
    return readVersion(home);
  }
  const session = await homes.open(home, waiting);
  if (session === null) return readVersion(home);
  try {
    const tail = session.place.journal?.tail ?? null;
    return { tail, folder: tail === null ? session.place.folder.home.identity : null };
  } finally {
    homes.releaseUnchanged(session);
  }
}

/** Whether nobody has changed any of the homes since. */
export const areStill = (versions: Versions): boolean =>
  Array.from(versions.values()).every(({ home, version }) => isStill(home, version));

/** Whether somebody has committed to a home. */
export const hasCommits = (home: FileHome): boolean => readVersion(home).tail !== null;

/** Reads a home's version without its lock. Throws `STORAGE_FAILED` for a store that may have been erased. */
function readVersion(home: FileHome): HomeVersion {
  const version = look(home, null, (journal, own) => {
    if (!isMarked(own)) return journal?.tail ?? null;
    throw new ToolError("STORAGE_FAILED", "Cannot use the store: its erasure cannot be finished on a read-only disk");
  });
  return version ?? unknown;
}

/**
 * Reads a home's version without its lock, if nothing has to be finished or removed first. Returns `undefined` if the journal
 * has frames that are not settled and that this process does not remember: under the lock they are read once, and remembered.
 */
function versionAtRest(home: FileHome, known: JournalTail | null): HomeVersion | undefined {
  return look(home, known, (journal, own) => {
    const isUnread = journal !== null && (journal.isDistrusted || journal.frames.length > 0);
    const isOld = journal === null && readOldLog(own, home) !== null;
    const isAtRest = journal?.isAsKnown === true || (!isUnread && !isOld && !hasStaged(own));
    return isAtRest && !isMarked(own) ? (journal?.tail ?? null) : undefined;
  });
}

/** Whether nobody has changed a home since it had this version. */
function isStill(home: FileHome, { tail, folder }: HomeVersion): boolean {
  const now = look(home, tail, (journal) => journal?.tail ?? null) ?? unknown;
  if (now.tail === null || tail === null) return now.tail === tail && now.folder === folder;
  // A store that is erased and made anew can have a journal with the same inode and numbers. Its hashes are others.
  return isSameTail(now.tail, tail);
}

/** What is known of a home whose journal cannot be read. */
const unknown: HomeVersion = { tail: null, folder: null };

const hasStaged = (own: Directory): boolean => own.entries().some(({ name }) => isStagedName(name));

/** `undefined` if the journal cannot be read as one. */
function look(
  home: FileHome,
  known: JournalTail | null,
  judge: (journal: Journal | null, own: Directory) => JournalTail | null | undefined,
): HomeVersion | undefined {
  try {
    using folder = HomeFolder.open(home);
    const own = folder?.openOwn() ?? null;
    using journal = own && Journal.open(own, home, { known, isRead: true });
    const tail = own && judge(journal, own);
    return tail === undefined ? undefined : { tail, folder: tail === null ? (folder?.home.identity ?? null) : null };
  } catch (error) {
    if (error instanceof JournalDamaged) return undefined;
    throw error;
  }
}
