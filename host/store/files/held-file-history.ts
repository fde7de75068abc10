import type { OriginClass } from "../../../shared/origin.ts";
import { atOnce, inTurns } from "../../values/turns.ts";
import type { Pieces } from "../../values/turns.ts";
import type { HeldHistory } from "../versions/held-history.ts";
import type { LoweredRun } from "../versions/lowered-runs.ts";
import { isStatedClass } from "../versions/present-origins.ts";
import type { FileOrigin } from "../versions/present-origins.ts";
import type { Version, VersionHead } from "../versions/version.ts";
import { isSameTail } from "./commit/find-records.ts";
import type { WalTail } from "./commit/find-records.ts";
import { Wal } from "./commit/wal.ts";
import { ContentBases } from "./history/content-bases.ts";
import { HistoryFolder } from "./history/history-folder.ts";
import type { KeptHistories, ReadHistory } from "./history/kept-histories.ts";
import { loadHistory } from "./history/load-history.ts";
import { versionsInRecords } from "./history/queued-versions.ts";
import { contentsOf, versionsIn } from "./history/read-history.ts";
import type { WholeHistory } from "./history/read-history.ts";
import { HomeFolder } from "./home-folder.ts";
import type { HomeSession } from "./home-session.ts";
import type { FileHome } from "./home.ts";

/** The home, and where its history is kept. */
export interface HistoryOfHome {
  readonly home: FileHome;
  /** The session in which the home is held; `null` as long as there is none. */
  readonly session: () => HomeSession | null;
  /** The state in which the home is read without a session; `null` if it is not known. */
  readonly tail: WalTail | null;
  readonly kept: KeptHistories;
}

interface Source {
  readonly known: ReadHistory;
  readonly versions: () => Promise<Version[]>;
  readonly contentsOf: (hashes: Iterable<string>) => Promise<ReadonlyMap<string, Uint8Array>>;
}

/** The history of a home: as its session knows it, or as the disk has it if there is no session. */
export class HeldFileHistory implements HeldHistory {
  readonly #of: HistoryOfHome;
  #onDisk: Source | null = null;

  constructor(of: HistoryOfHome) {
    this.#of = of;
  }

  get head(): VersionHead {
    return this.#source.known.origins.head;
  }

  get filesHead(): VersionHead {
    return this.#source.known.origins.filesHead;
  }

  get isBroken(): boolean {
    return this.#source.known.isBroken;
  }

  get unknown(): OriginClass {
    return this.#source.known.unknown;
  }

  get hasStated(): boolean {
    const { origins, unknown } = this.#source.known;
    return origins.hasStated || isStatedClass(unknown);
  }

  async originOf(scope: string, path: string): Promise<FileOrigin | null> {
    return this.#source.known.origins.of(scope, path);
  }

  async origins(): Promise<Iterable<readonly [string, FileOrigin]>> {
    return this.#source.known.origins.entries();
  }

  async loweredRuns(): Promise<LoweredRun[]> {
    return this.#source.known.origins.loweredRuns;
  }

  async versions(): Promise<Version[]> {
    return (await this.#source.versions()).filter(({ files }) => files.length > 0);
  }

  async contentsOf(hashes: Iterable<string>): Promise<ReadonlyMap<string, Uint8Array>> {
    return this.#source.contentsOf(hashes);
  }

  get #source(): Source {
    return this.#of.session()?.history ?? (this.#onDisk ??= historyOnDisk(this.#of));
  }
}

/** Changes nothing. */
function historyOnDisk({ home, tail, kept }: HistoryOfHome): Source {
  function* look<Result>(work: (whole: WholeHistory, wal: Wal | null) => Pieces<Result>): Pieces<Result> {
    using folder = HomeFolder.open(home);
    const own = folder?.openOwn() ?? null;
    using history = own && HistoryFolder.open(own);
    using wal = own && Wal.open(own, home, { isRead: true });
    const queued = yield* versionsInRecords(wal?.records ?? [], new ContentBases());
    return yield* work({ history, queued }, wal);
  }
  const load = (): Pieces<ReadHistory> =>
    look(function* ({ history, queued }, wal) {
      const loaded = yield* loadHistory({ history, wal, queued });
      if (tail && wal?.tail && isSameTail(wal.tail, tail)) kept.keepRead(home, tail, loaded);
      return loaded;
    });
  return {
    known: (tail && kept.readOf(home, tail)) ?? atOnce(load()),
    versions: () => inTurns(look((whole) => versionsIn(whole))),
    contentsOf: (hashes) => inTurns(look((whole) => contentsOf(whole, hashes))),
  };
}
