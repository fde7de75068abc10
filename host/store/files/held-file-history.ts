import type { HeldHistory } from "../versions/held-history.ts";
import { Wal } from "./commit/wal.ts";
import { ContentBases } from "./history/content-bases.ts";
import { HistoryFolder } from "./history/history-folder.ts";
import { loadHistory } from "./history/load-history.ts";
import { versionsInRecords } from "./history/queued-versions.ts";
import { contentOf, versionsIn } from "./history/read-history.ts";
import type { WholeHistory } from "./history/read-history.ts";
import { HomeFolder } from "./home-folder.ts";
import type { HomeSession } from "./home-session.ts";
import type { Home } from "./home.ts";

/** The history of a home: as its session knows it, or as the disk has it if there is no session. */
export function heldFileHistory(home: Home, session: () => HomeSession | null): HeldHistory {
  let onDisk: HeldHistory | null = null;
  const present = (): HeldHistory => {
    const { history } = session() ?? {};
    return history ? historyOf(history) : (onDisk ??= historyOnDisk(home));
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
    originOf: (scope, path) => present().originOf(scope, path),
    origins: () => present().origins(),
    versions: () => present().versions(),
    contentOf: (sha256) => present().contentOf(sha256),
  };
}

type Known = Pick<HomeSession["history"]["known"], "origins" | "isBroken" | "unknown">;

function historyOf(source: {
  readonly known: Known;
  versions: HeldHistory["versions"];
  contentOf: HeldHistory["contentOf"];
}): HeldHistory {
  const { origins, isBroken, unknown } = source.known;
  return {
    head: origins.head,
    isBroken,
    unknown,
    originOf: (scope, path) => origins.of(scope, path),
    origins: () => origins.entries(),
    versions: () => source.versions(),
    contentOf: (sha256) => source.contentOf(sha256),
  };
}

/** Changes nothing. */
function historyOnDisk(home: Home): HeldHistory {
  const look = <Result>(work: (whole: WholeHistory, wal: Wal | null) => Result): Result => {
    using folder = HomeFolder.open(home);
    const own = folder?.openOwn() ?? null;
    using history = own && HistoryFolder.open(own);
    using wal = own && Wal.open(own, home, { isRead: true });
    return work({ history, queued: versionsInRecords(wal?.records ?? [], new ContentBases()) }, wal);
  };
  const known = look(({ history, queued }, wal) =>
    loadHistory({ history, wal, queued: queued.flatMap(({ versions }) => versions) }),
  );
  return historyOf({
    known,
    versions: () => look((whole) => versionsIn(whole)),
    contentOf: (sha256) => look((whole) => contentOf(whole, sha256)),
  });
}
