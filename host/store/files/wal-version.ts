import type { Directory } from "../../disk/directory.ts";
import { ToolError } from "../../values/tool-error.ts";
import { giveTurn } from "../../values/turns.ts";
import { isStagedName } from "./commit/apply-files.ts";
import { WalDamaged } from "./commit/wal-format.ts";
import type { WalTail } from "./commit/wal-format.ts";
import { Wal } from "./commit/wal.ts";
import { isMarked } from "./erase-mark.ts";
import type { FileHome } from "./home.ts";
import type { Homes } from "./homes.ts";
import { HomeFolder } from "./scope-folders.ts";
import type { Waiting } from "./session-place.ts";

/** The version of a home's files, as its WAL shows it: every change appends a record before it changes a file. */
interface HomeVersion {
  /** `null` if nobody has committed to the home. */
  readonly wal: WalTail | null;
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
    const wal = tailOf(session.place.wal);
    return { wal, folder: wal === null ? session.place.folder.home.identity : null };
  } finally {
    homes.releaseUnchanged(session);
  }
}

/** Whether nobody has changed any of the homes since. */
export const areStill = (versions: Versions): boolean =>
  Array.from(versions.values()).every(({ home, version }) => isStill(home, version));

/** Whether somebody has committed to a home. */
export const hasCommits = (home: FileHome): boolean => readVersion(home).wal !== null;

/** Reads a home's version without its lock. Throws `STORAGE_FAILED` for a store that may have been erased. */
function readVersion(home: FileHome): HomeVersion {
  const version = look(home, null, (wal, own) => {
    if (!isMarked(own)) return tailOf(wal);
    throw new ToolError("STORAGE_FAILED", "Cannot use the store: its erasure cannot be finished on a read-only disk");
  });
  return version ?? unknown;
}

/**
 * Reads a home's version without its lock, if nothing has to be finished or removed first. Returns `undefined` if the WAL
 * has records that this process does not remember: under the lock they are read once, and remembered.
 */
function versionAtRest(home: FileHome, known: WalTail | null): HomeVersion | undefined {
  return look(home, known, (wal, own) => {
    const hasRecords = wal !== null && (wal.isDistrusted || wal.records.length > 0);
    const isAtRest = wal?.isAsKnown === true || (!hasRecords && !hasStaged(own));
    return isAtRest && !isMarked(own) ? tailOf(wal) : undefined;
  });
}

/** Whether nobody has changed a home since it had this version. */
function isStill(home: FileHome, { wal, folder }: HomeVersion): boolean {
  const now = look(home, wal, tailOf) ?? unknown;
  if (now.wal === null || wal === null) return now.wal === wal && now.folder === folder;
  // A store that is erased and made anew can have a WAL with the same inode and sequence. Its salt is another one. So is
  // that of a WAL that was retired, which changes no file: then the caller only reads once more.
  return now.wal.checkpoint.salt === wal.checkpoint.salt && now.wal.next === wal.next;
}

/** What is known of a home whose WAL cannot be read. */
const unknown: HomeVersion = { wal: null, folder: null };

const tailOf = (wal: Wal | null): WalTail | null => (wal?.isSetUp ? wal.tail : null);

const hasStaged = (own: Directory): boolean => own.entries().some(({ name }) => isStagedName(name));

/** `undefined` if the WAL cannot be read as one. */
function look(
  home: FileHome,
  known: WalTail | null,
  judge: (wal: Wal | null, own: Directory) => WalTail | null | undefined,
): HomeVersion | undefined {
  try {
    using folder = HomeFolder.open(home);
    const own = folder?.openOwn() ?? null;
    using wal = own && Wal.open(own, home, { known, isRead: true });
    const tail = own && judge(wal, own);
    return tail === undefined
      ? undefined
      : { wal: tail, folder: tail === null ? (folder?.home.identity ?? null) : null };
  } catch (error) {
    if (error instanceof WalDamaged) return undefined;
    throw error;
  }
}
