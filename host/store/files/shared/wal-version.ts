import type { Directory } from "../../../disk/directory.ts";
import { ToolError } from "../../../values/tool-error.ts";
import { isStagedName } from "../commit/apply-files.ts";
import { WalDamaged } from "../commit/find-records.ts";
import type { WalTail } from "../commit/find-records.ts";
import { Wal } from "../commit/wal.ts";
import { isMarked } from "../erased-names.ts";
import { HomeFolder } from "../home-folder.ts";
import type { Home } from "../home.ts";

/**
 * The version of a home's files, as its WAL shows it: every change appends a record before it changes a file. `null` if
 * nobody has committed to the home.
 */
export type WalVersion = WalTail | null;

/** Reads a home's version without its lock. Throws `STORAGE_FAILED` for a store that may have been erased. */
export function readVersion(home: Home): WalVersion {
  return look(home, null, unmarkedVersionOf) ?? null;
}

function unmarkedVersionOf(wal: Wal | null, own: Directory): WalVersion {
  if (!isMarked(own)) return versionOf(wal);
  throw new ToolError("STORAGE_FAILED", "Cannot use the store: its erasure cannot be finished on a read-only disk");
}

/**
 * Reads a home's version without its lock, if nothing has to be finished or removed first. Returns `undefined` if the WAL
 * has records that this process does not remember: under the lock they are read once, and remembered.
 */
export function versionAtRest(home: Home, known: WalVersion): WalVersion | undefined {
  return look(home, known, (wal, own) => {
    const hasRecords = wal !== null && (wal.isDistrusted || wal.records.length > 0);
    const isAtRest = wal?.isAsKnown === true || (!hasRecords && !hasStaged(own));
    return isAtRest && !isMarked(own) ? versionOf(wal) : undefined;
  });
}

/** Whether nobody has changed a home since it had this version. */
export function isStill(home: Home, version: WalVersion): boolean {
  const now = look(home, version, versionOf) ?? null;
  if (now === null || version === null) return now === version;
  // The sequence goes on when the WAL is retired, which changes no file.
  return now.identity === version.identity && now.next === version.next;
}

const versionOf = (wal: Wal | null): WalVersion => (wal?.isSetUp ? wal.tail : null);

const hasStaged = (own: Directory): boolean => own.entries().some(({ name }) => isStagedName(name));

/** `null` without a folder of the host, `undefined` if the WAL cannot be read as one. */
function look(
  home: Home,
  known: WalVersion,
  judge: (wal: Wal | null, own: Directory) => WalVersion | undefined,
): WalVersion | undefined {
  using folder = HomeFolder.open(home);
  const own = folder?.openOwn() ?? null;
  if (own === null) return null;
  try {
    using wal = Wal.open(own, home, { known, isRead: true });
    return judge(wal, own);
  } catch (error) {
    if (error instanceof WalDamaged) return undefined;
    throw error;
  }
}
