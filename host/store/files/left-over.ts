/** Retires what processes have left that have ended, at the start of another one. */
import { setImmediate } from "node:timers/promises";

import { ToolError } from "../../values/tool-error.ts";
import { recordsStart, walFile } from "./commit/wal-format.ts";
import type { FileHome } from "./home.ts";
import type { Homes } from "./homes.ts";
import { HomeFolder } from "./scope-folders.ts";

/** Homes that are looked at before other work gets a turn: some milliseconds. */
const homesAtOnce = 64;

/** The longest unused come first, one after the other: calls hardly notice it. Ends early when `closing` is aborted. */
export async function retireLeftOver(
  homes: Homes,
  all: readonly FileHome[],
  note: (home: FileHome, text: string) => void,
  closing: AbortSignal,
): Promise<void> {
  for (const home of await findLeftOver(all, closing)) {
    if (closing.aborted) return;
    try {
      await homes.retire(home, { make: false, readOnlyWillDo: true, until: performance.now() });
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
