import type { Directory } from "../../../disk/directory.ts";
import { ToolError } from "../../../values/tool-error.ts";
import type { Pieces } from "../../../values/turns.ts";
import type { StoreFinding } from "../../holding.ts";
import { followChain } from "../../versions/version-chain.ts";
import { WalDamaged } from "../commit/find-records.ts";
import { Wal } from "../commit/wal.ts";
import { hostFolder } from "../home.ts";
import type { FileHome } from "../home.ts";
import { ContentBases } from "./content-bases.ts";
import { historyFolder, HistoryFolder } from "./history-folder.ts";
import { loadHistory } from "./load-history.ts";
import { readPresent } from "./present-file.ts";
import { versionsInRecords } from "./queued-versions.ts";

/** What is wrong with a history. Every line is read, and compared with the one before. */
export function* historyFindings(own: Directory, home: FileHome): Pieces<StoreFinding[]> {
  using history = HistoryFolder.open(own);
  using opened = openWal(own, home);
  const fault = history === null ? missing(opened.wal) : ((yield* faultIn(history)) ?? (yield* cut(history, opened)));
  return fault === null ? [] : [{ code: "history-broken", path: `${hostFolder}/${historyFolder}`, ...fault }];
}

type Fault = Pick<StoreFinding, "message" | "remedy">;

/** What is gone cannot be put back. Whoever holds the home for writing begins another one. */
const gone = (what: string): Fault => ({
  message: `${what} missing: no file has any trust`,
  remedy: "begin another one, by which no file until now has any trust: first put back what you have a copy of",
});

interface OpenedWal extends Disposable {
  /** `null` if there is none. */
  readonly wal: Wal | null;
  /** That is a finding of its own. */
  readonly isUnreadable: boolean;
}

function openWal(own: Directory, home: FileHome): OpenedWal {
  try {
    const wal = Wal.open(own, home, { isRead: true });
    return { wal, isUnreadable: false, [Symbol.dispose]: () => wal?.[Symbol.dispose]() };
  } catch (error) {
    if (!(error instanceof WalDamaged || error instanceof ToolError)) throw error;
    return { wal: null, isUnreadable: true, [Symbol.dispose]: () => {} };
  }
}

/** Whoever sets a WAL up makes the folder too. */
const missing = (wal: Wal | null): Fault | null =>
  wal?.isSetUp === true && !wal.isOfEarlierVersion ? gone("it is") : null;

/** What the WAL says that the history does not: its end was cut off, or one of its marks removed. */
function* cut(history: HistoryFolder, { wal, isUnreadable }: OpenedWal): Pieces<Fault | null> {
  if (history.hasLost || isUnreadable) return null;
  const queued = yield* versionsInRecords(wal?.records ?? [], new ContentBases());
  const { isBroken } = yield* loadHistory({ history, wal, queued });
  if (isBroken) return gone("the last versions or a mark of it, or its log, are");
  const isLate = wal?.history?.mark === "late" && !history.beganLate;
  return isLate ? { message: "the mark is missing that it began after the first files", remedy: null } : null;
}

function* faultIn(history: HistoryFolder): Pieces<Fault | null> {
  const [oldest = 1] = history.segments("versions");
  // Old versions are dropped, a segment at a time, when `present.json` says what they have left.
  const hasLostOld = oldest > 1 && (yield* readPresent(history)) === null;
  const message = hasLostOld
    ? `the versions before ${oldest} are missing`
    : (yield* followChain(linesOf(history), oldest)).fault;
  return message === null ? null : { message, remedy: null };
}

function* linesOf(history: HistoryFolder): Generator<string> {
  for (const first of history.segments("versions")) yield* history.lines("versions", first);
}
