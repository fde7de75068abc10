import type { Directory } from "../../../disk/directory.ts";
import { ToolError } from "../../../values/tool-error.ts";
import type { Pieces } from "../../../values/turns.ts";
import type { StoreFinding } from "../../holding.ts";
import { followChain } from "../../versions/version-chain.ts";
import { WalDamaged } from "../commit/find-records.ts";
import { Wal } from "../commit/wal.ts";
import { hostFolder } from "../home.ts";
import type { Home } from "../home.ts";
import { ContentBases } from "./content-bases.ts";
import { historyFolder, HistoryFolder } from "./history-folder.ts";
import { loadHistory } from "./load-history.ts";
import { readPresent } from "./present-file.ts";
import { versionsInRecords } from "./queued-versions.ts";

/** What is wrong with a history. Every line is read, and compared with the one before. */
export function* historyFindings(own: Directory, home: Home): Pieces<StoreFinding[]> {
  using history = HistoryFolder.open(own);
  using opened = openWal(own, home);
  const message =
    history === null ? whyMissing(opened.wal) : ((yield* faultIn(history)) ?? (yield* whyCut(history, opened)));
  if (message === null) return [];
  return [{ code: "history-broken", path: `${hostFolder}/${historyFolder}`, message, remedy: null }];
}

interface OpenedWal extends Disposable {
  /** `null` if there is none. */
  readonly wal: Wal | null;
  /** That is a finding of its own. */
  readonly isUnreadable: boolean;
}

function openWal(own: Directory, home: Home): OpenedWal {
  try {
    const wal = Wal.open(own, home, { isRead: true });
    return { wal, isUnreadable: false, [Symbol.dispose]: () => wal?.[Symbol.dispose]() };
  } catch (error) {
    if (!(error instanceof WalDamaged || error instanceof ToolError)) throw error;
    return { wal: null, isUnreadable: true, [Symbol.dispose]: () => {} };
  }
}

/** Whoever sets a WAL up makes the folder too. */
const whyMissing = (wal: Wal | null): string | null =>
  wal?.isSetUp === true && !wal.isOfEarlierVersion ? "it is missing: no file has any trust" : null;

/** What the WAL says that the history does not: its end was cut off, or one of its marks removed. */
function* whyCut(history: HistoryFolder, { wal, isUnreadable }: OpenedWal): Pieces<string | null> {
  if (history.hasLost || isUnreadable) return null;
  const queued = yield* versionsInRecords(wal?.records ?? [], new ContentBases());
  const { isBroken } = yield* loadHistory({ history, wal, queued });
  if (isBroken) return "the last versions or a mark of it, or its log, are missing: no file has any trust";
  const isLate = wal?.history?.mark === "late" && !history.beganLate;
  return isLate ? "the mark is missing that it began after the first files" : null;
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
