/** Retires WALs outside of calls: at the end of a process, and at the start of another one what ended ones have left. */
import { setImmediate } from "node:timers/promises";

import { ToolError } from "../../values/tool-error.ts";
import { atOnce } from "../../values/turns.ts";
import { inFlushesNow } from "./commit/flushing.ts";
import { retireWal } from "./commit/retire.ts";
import { isSameTail, needsRecovery, recordsStart, versionsInRecords, walFile } from "./commit/wal-format.ts";
import { Wal } from "./commit/wal.ts";
import { ContentBases } from "./history/content-line.ts";
import { moveVersions } from "./history/move-versions.ts";
import type { FileHome } from "./home.ts";
import { HomeFolder, ScopeFolders } from "./scope-folders.ts";
import { lockNow } from "./session-place.ts";
import type { HomeMemo, Waiting } from "./session-place.ts";
import { writeSizes } from "./stored-sizes.ts";

/** Homes that are looked at before other work gets a turn: some milliseconds. */
const homesAtOnce = 64;

interface Retiring {
  readonly retire: (home: FileHome, waiting: Waiting) => Promise<void>;
  readonly note: (home: FileHome, text: string) => void;
}

/** The longest unused come first, one after the other: calls hardly notice it. Ends early when `closing` is aborted. */
export async function retireLeftOver(
  all: readonly FileHome[],
  { retire, note }: Retiring,
  closing: AbortSignal,
): Promise<void> {
  for (const home of await findLeftOver(all, closing)) {
    if (closing.aborted) return;
    try {
      await retire(home, { make: false, readOnlyWillDo: true, until: performance.now() });
    } catch (error) {
      // Someone uses it, who will retire it.
      if (error instanceof ToolError && error.code === "BUSY") continue;
      const why = error instanceof Error ? error.message : "unknown reason";
      note(home, `what an ended process has left could not be finished (${why})`);
    }
  }
}

async function findLeftOver(all: readonly FileHome[], signal: AbortSignal): Promise<FileHome[]> {
  const found: { readonly home: FileHome; readonly writtenUs: number }[] = [];
  for (const [at, home] of all.entries()) {
    // The process can end without waiting for this. Whoever closes the store waits, so then it ends at once.
    if (at % homesAtOnce === 0) await setImmediate(undefined, { ref: false, signal }).catch(() => {});
    if (signal.aborted) break;
    const writtenUs = recordsWrittenUs(home);
    if (writtenUs !== null) found.push({ home, writtenUs });
  }
  return found.toSorted((a, b) => a.writtenUs - b.writtenUs).map(({ home }) => home);
}

/** When a home's WAL was last written, if it can have records; else `null`. */
function recordsWrittenUs(home: FileHome): number | null {
  try {
    using folder = HomeFolder.open(home);
    const wal = folder?.openOwn()?.measure(walFile) ?? null;
    return wal !== null && wal.bytes > recordsStart ? wal.writtenUs : null;
  } catch {
    // The doctor reports it.
    return null;
  }
}

/** Retires a home at the end of the process. What cannot be retired at once is left to the next start. */
export function retireNow(memo: HomeMemo, boot: string | null): void {
  const { home } = memo;
  using folder = HomeFolder.open(home);
  const own = folder?.openOwn() ?? null;
  using lock = own && lockNow(own);
  using wal = own && lock && Wal.open(own, home, { known: memo.tail });
  if (!folder || !own || !wal || needsRecovery(wal, boot) || wal.isOfEarlierVersion) return;
  using folders = new ScopeFolders(folder.home, { kind: home.kind, folds: memo.foldsOf(folder.home) });
  const sizes = memo.sizes !== null && isSameTail(memo.sizes.tail, wal.tail) ? memo.sizes.known : {};
  const added = atOnce(versionsInRecords(wal.records));
  const versions = wal.isContinued ? [...memo.versions, ...added] : added;
  if (versions.length > 0) inFlushesNow(moveVersions(own, versions, new ContentBases()));
  const last = versions.at(-1);
  if (last !== undefined) wal.history = { mark: "none", ...wal.history, head: last.head };
  const touched = [...memo.touched.values(), ...wal.records.flatMap(({ files }) => files)];
  inFlushesNow(retireWal({ folders, wal }, touched));
  wal.shrink();
  writeSizes(own, wal.tail, sizes);
}
