import type { HeldHistory } from "../versions/held-history.ts";
import { isStatedClass } from "../versions/present-origins.ts";
import { isSameTail } from "./commit/find-records.ts";
import type { WalTail } from "./commit/find-records.ts";
import { Wal } from "./commit/wal.ts";
import { ContentBases } from "./history/content-bases.ts";
import { HistoryFolder } from "./history/history-folder.ts";
import type { KeptHistory, ReadHistory } from "./history/kept-histories.ts";
import { loadHistory } from "./history/load-history.ts";
import { versionsInRecords } from "./history/queued-versions.ts";
import { contentsOf, versionsIn } from "./history/read-history.ts";
import type { WholeHistory } from "./history/read-history.ts";
import { HomeFolder } from "./home-folder.ts";
import type { HomeSession } from "./home-session.ts";
import type { Home } from "./home.ts";

/** What is known of a home that is read without a session. */
interface ReadState {
  /** The state in which the home is read; `null` if it is not known. */
  readonly tail: WalTail | null;
  readonly kept: KeptHistory;
}

/** The history of a home: as its session knows it, or as the disk has it if there is no session. */
export function heldFileHistory(home: Home, session: () => HomeSession | null, state: ReadState): HeldHistory {
  let onDisk: HeldHistory | null = null;
  const present = (): HeldHistory => {
    const { history } = session() ?? {};
    return history ? historyOf(history) : (onDisk ??= historyOnDisk(home, state));
  };
  return {
    get head() {
      return present().head;
    },
    get isBroken() {
      return present().isBroken;
    },
    get unknown() {
      return present().unknown;
    },
    get hasStated() {
      return present().hasStated;
    },
    originOf: (scope, path) => present().originOf(scope, path),
    origins: () => present().origins(),
    versions: () => present().versions(),
    contentsOf: (hashes) => present().contentsOf(hashes),
  };
}

function historyOf(source: {
  readonly known: ReadHistory;
  versions: HeldHistory["versions"];
  contentsOf: HeldHistory["contentsOf"];
}): HeldHistory {
  const { origins, isBroken, unknown } = source.known;
  return {
    head: origins.head,
    isBroken,
    unknown,
    hasStated: origins.hasStated || isStatedClass(unknown),
    originOf: (scope, path) => origins.of(scope, path),
    origins: () => origins.entries(),
    versions: () => source.versions(),
    contentsOf: (hashes) => source.contentsOf(hashes),
  };
}

/** Changes nothing. */
function historyOnDisk(home: Home, state: ReadState): HeldHistory {
  const look = <Result>(work: (whole: WholeHistory, wal: Wal | null) => Result): Result => {
    using folder = HomeFolder.open(home);
    const own = folder?.openOwn() ?? null;
    using history = own && HistoryFolder.open(own);
    using wal = own && Wal.open(own, home, { isRead: true });
    return work({ history, queued: versionsInRecords(wal?.records ?? [], new ContentBases()) }, wal);
  };
  const load = (): ReadHistory =>
    look(({ history, queued }, wal) => {
      const loaded = loadHistory({ history, wal, queued });
      if (state.tail && wal?.tail && isSameTail(wal.tail, state.tail)) state.kept.keepRead(state.tail, loaded);
      return loaded;
    });
  const known = (state.tail && state.kept.readOf(state.tail)) ?? load();
  return historyOf({
    known,
    versions: () => look((whole) => versionsIn(whole)),
    contentsOf: (hashes) => look((whole) => contentsOf(whole, hashes)),
  });
}
