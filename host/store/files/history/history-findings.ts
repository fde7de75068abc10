import type { Directory } from "../../../disk/directory.ts";
import { ToolError } from "../../../values/tool-error.ts";
import type { Pieces } from "../../../values/turns.ts";
import type { StoreFinding } from "../../holding.ts";
import { followChain } from "../../versions/version-chain.ts";
import { WalDamaged } from "../commit/find-records.ts";
import { Wal } from "../commit/wal.ts";
import { hostFolder } from "../home.ts";
import type { Home } from "../home.ts";
import { historyFolder, HistoryFolder } from "./history-folder.ts";
import { readPresent } from "./present-file.ts";

/** What is wrong with a history. Every line is read, and compared with the one before. */
export function* historyFindings(own: Directory, home: Home): Pieces<StoreFinding[]> {
  using history = HistoryFolder.open(own);
  const message = history === null ? whyMissing(own, home) : yield* faultIn(history);
  if (message === null) return [];
  return [{ code: "history-broken", path: `${hostFolder}/${historyFolder}`, message, remedy: null }];
}

/** Whoever sets a WAL up makes the folder too. */
function whyMissing(own: Directory, home: Home): string | null {
  try {
    using wal = Wal.open(own, home, { isRead: true });
    return wal?.isSetUp === true && !wal.isOfEarlierVersion ? "it is missing: no file has any trust" : null;
  } catch (error) {
    // That is a finding of its own.
    if (error instanceof WalDamaged || error instanceof ToolError) return null;
    throw error;
  }
}

function* faultIn(history: HistoryFolder): Pieces<string | null> {
  const [oldest = 1] = history.segments("versions");
  // Old versions are dropped, a segment at a time, when `present.json` says what they have left.
  if (oldest > 1 && (yield* readPresent(history)) === null) return `the versions before ${oldest} are missing`;
  return (yield* followChain(linesOf(history), oldest)).fault;
}

function* linesOf(history: HistoryFolder): Generator<string> {
  for (const first of history.segments("versions")) yield* history.lines("versions", first);
}
