/** Finishes and retires, in the background, the WALs of processes that have ended without doing so. */
import { setImmediate } from "node:timers/promises";

import { ToolError } from "../../values/tool-error.ts";
import { recordsStart } from "./commit/wal-format.ts";
import { walFile } from "./commit/wal-names.ts";
import { HomeFolder } from "./home-folder.ts";
import type { Home } from "./home.ts";

/** Homes that are looked at before other work gets a turn: some milliseconds. */
const homesAtOnce = 64;

export interface LeftOverHomes<Id> {
  readonly ids: () => readonly Id[];
  readonly homeOf: (id: Id) => Home;
  /** Finishes and retires a home's WAL. Throws `BUSY` at once if someone uses it, who will retire it. */
  readonly retire: (id: Id) => Promise<void>;
  readonly note: (id: Id, text: string) => void;
}

interface LeftOver<Id> {
  readonly id: Id;
  readonly writtenUs: number;
}

/** The longest unused come first, one after the other: calls hardly notice it. Ends early when `closing` is aborted. */
export async function retireLeftOver<Id>(homes: LeftOverHomes<Id>, closing: AbortSignal): Promise<void> {
  for (const { id } of await findLeftOver(homes, closing)) {
    if (closing.aborted) return;
    try {
      await homes.retire(id);
    } catch (error) {
      if (error instanceof ToolError && error.code === "BUSY") continue;
      homes.note(id, `what an ended process has left could not be finished (${messageOf(error)})`);
    }
  }
}

async function findLeftOver<Id>(homes: LeftOverHomes<Id>, closing: AbortSignal): Promise<LeftOver<Id>[]> {
  const found: LeftOver<Id>[] = [];
  for (const [at, id] of idsOf(homes).entries()) {
    if (at % homesAtOnce === 0) await nextTurn(closing);
    if (closing.aborted) break;
    const writtenUs = recordsWrittenUs(homes.homeOf(id));
    if (writtenUs !== null) found.push({ id, writtenUs });
  }
  return found.toSorted((a, b) => a.writtenUs - b.writtenUs);
}

/** The process can end without waiting for this. Whoever closes the store waits, so then it ends at once. */
async function nextTurn(signal: AbortSignal): Promise<void> {
  await setImmediate(undefined, { ref: false, signal }).catch(() => {});
}

/** None if they cannot be listed: the first call reports that. */
function idsOf<Id>({ ids }: LeftOverHomes<Id>): readonly Id[] {
  try {
    return ids();
  } catch {
    return [];
  }
}

/** When a home's WAL was last written, if it can have records; else `null`. */
function recordsWrittenUs(home: Home): number | null {
  try {
    using folder = HomeFolder.open(home);
    const wal = folder?.openOwn()?.measure(walFile) ?? null;
    return wal !== null && wal.bytes > recordsStart ? wal.writtenUs : null;
  } catch {
    // The doctor reports it.
    return null;
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : "unknown reason");
