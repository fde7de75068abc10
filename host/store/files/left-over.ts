/** Settles journals outside of calls: at the end of a process, and at the start of another one what ended ones have left. */
import { setImmediate } from "node:timers/promises";

import { ToolError } from "../../values/tool-error.ts";
import { atOnce } from "../../values/turns.ts";
import { flushTouchedNow } from "./commit/flushing.ts";
import type { HomeMemo } from "./home-memo.ts";
import type { FileHome } from "./home.ts";
import { openHistory } from "./journal/history.ts";
import { Journal } from "./journal/journal.ts";
import { isSameTail, needsRecovery } from "./journal/read-journal.ts";
import { journalFolder } from "./journal/segments.ts";
import { HomeFolder, ScopeFolders } from "./scope-folders.ts";
import { lockNow } from "./session-place.ts";
import type { Waiting } from "./session-place.ts";
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
    const writtenUs = framesWrittenUs(home);
    if (writtenUs !== null) found.push({ home, writtenUs });
  }
  return found.toSorted((a, b) => a.writtenUs - b.writtenUs).map(({ home }) => home);
}

/** When a home's journal was last written, if it has frames that are not settled, or is of an earlier format; else `null`. */
function framesWrittenUs(home: FileHome): number | null {
  try {
    using folder = HomeFolder.open(home);
    const own = folder?.openOwn() ?? null;
    const { journal, log } = own === null ? { journal: null, log: null } : openHistory(own, home);
    using _journal = journal;
    const isLeft = log !== null || (journal !== null && (journal.unsettled > 0 || journal.isDistrusted));
    return isLeft ? (own?.measure(journalFolder)?.writtenUs ?? 0) : null;
  } catch {
    // The doctor reports it.
    return null;
  }
}

/** Settles a home at the end of the process. What cannot be settled at once is left to the next start. */
export function retireNow(memo: HomeMemo, boot: string | null): void {
  const { home } = memo;
  using folder = HomeFolder.open(home);
  const own = folder?.openOwn() ?? null;
  using lock = own && lockNow(own);
  using journal = own && lock && Journal.open(own, home, { known: memo.tail, boot });
  if (!folder || !own || !journal || needsRecovery(journal, boot)) return;
  using folders = new ScopeFolders(folder.home, { kind: home.kind, folds: memo.foldsOf(folder.home) });
  const sizes = memo.sizes !== null && isSameTail(memo.sizes.tail, journal.tail) ? memo.sizes.known : {};
  const touched = [...memo.touched.values(), ...journal.frames.flatMap(({ files }) => files)];
  flushTouchedNow({ folders, distrust: () => journal.markDistrusted() }, touched);
  journal.flushNow();
  journal.settle();
  const left = Math.max(memo.lastPassing, journal.lastPassing) > 0 ? atOnce(journal.passingLeft()) : [];
  if (left.length > 0) {
    journal.flushNow();
    journal.forget(left);
  }
  writeSizes(own, journal.tail, sizes);
}
