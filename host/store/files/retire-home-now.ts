import { atOnce } from "../../values/turns.ts";
import type { KnownSizes } from "../scope-size.ts";
import { headAfter, parseLine } from "../versions/version-line.ts";
import { needsRecovery } from "./commit/find-records.ts";
import type { WalTail } from "./commit/find-records.ts";
import { retireNow } from "./commit/retire.ts";
import { Wal } from "./commit/wal.ts";
import { ContentBases } from "./history/content-bases.ts";
import { moveVersionsNow } from "./history/move-versions.ts";
import { versionsInRecords } from "./history/queued-versions.ts";
import { HomeFolder } from "./home-folder.ts";
import { lockNow } from "./home-lock.ts";
import type { Home } from "./home.ts";
import { ScopeFolders } from "./scope-folders.ts";
import type { HomeMemo } from "./session-setup.ts";
import { writeSizes } from "./stored-sizes.ts";

interface RetiringNow {
  readonly memo: HomeMemo;
  readonly boot: string | null;
  readonly sizesOf: (tail: WalTail) => KnownSizes;
}

/** Retires a home at the end of the process. What cannot be retired at once is left to the next start. */
export function retireHomeNow(home: Home, { memo, boot, sizesOf }: RetiringNow): void {
  using folder = HomeFolder.open(home);
  const own = folder?.openOwn() ?? null;
  using lock = own && lockNow(own);
  using wal = own && lock && Wal.open(own, home, { known: memo.tail });
  if (!folder || !own || !wal || needsRecovery(wal, boot) || wal.isOfEarlierVersion) return;
  using folders = new ScopeFolders(folder.home, { kind: home.kind, folds: memo.foldsOf(folder.home) });
  const sizes = sizesOf(wal.tail);
  const added = atOnce(versionsInRecords(wal.records, new ContentBases()));
  const versions = wal.isContinued ? [...memo.versions, ...added] : added;
  if (versions.length > 0) moveVersionsNow(own, versions);
  const line = versions.at(-1)?.lines.at(-1) ?? "";
  const last = parseLine(line);
  if (last !== null) wal.history = { mark: "none", ...wal.history, head: headAfter(last, line) };
  retireNow({ folders, wal }, [...memo.touched.values(), ...wal.records.flatMap(({ files }) => files)]);
  wal.shrink();
  writeSizes(own, wal.tail, sizes);
}
