/** The histories of homes: as they are kept between calls, and as a call asks them. */
import type { OriginClass } from "../../../shared/origin.ts";
import { atOnce, inTurns } from "../../values/turns.ts";
import type { Pieces } from "../../values/turns.ts";
import { isStatedClass } from "../versions/present-origins.ts";
import type { HeldHistory, PresentOrigins } from "../versions/present-origins.ts";
import type { Version, VersionHead } from "../versions/version.ts";
import { isSameTail } from "./commit/wal-format.ts";
import type { WalTail } from "./commit/wal-format.ts";
import { Wal } from "./commit/wal.ts";
import { versionsInRecords } from "./history/content-line.ts";
import { HistoryFolder } from "./history/history-folder.ts";
import { contentsOf, loadHistory, versionsIn } from "./history/known-history.ts";
import type { CheckedHistory, KnownHistory, WholeHistory } from "./history/known-history.ts";
import type { FileHome } from "./home.ts";
import { HomeFolder } from "./scope-folders.ts";

/** How many homes' histories are kept, and of how many files: 0.3 KB for a file, and up to 0.3 MB of a home's contents. */
const [homesMax, filesMax] = [128, 200_000];

interface KeptHistory {
  readonly tail: WalTail;
  readonly known: KnownHistory | CheckedHistory;
  /** What the last one said that was checked. */
  readonly last: PresentOrigins | null;
}

/** The histories of homes between calls. Another process that commits changes the WAL, and then one is read again. */
export class KeptHistories {
  readonly #kept = new Map<string, KeptHistory>();

  /** What the history said when it was last checked; `null` if that is not known. */
  last({ key }: FileHome): PresentOrigins | null {
    return this.#kept.get(key)?.last ?? null;
  }

  of(home: FileHome, tail: WalTail): CheckedHistory | null {
    const known = this.readOf(home, tail);
    return known !== null && "bases" in known ? known : null;
  }

  keep(home: FileHome, tail: WalTail, known: CheckedHistory): void {
    this.#put(home, { tail, known, last: known.origins });
  }

  /** As `of`, also one that was only read. */
  readOf({ key }: FileHome, tail: WalTail): KnownHistory | CheckedHistory | null {
    const kept = this.#kept.get(key);
    return kept !== undefined && isSameTail(kept.tail, tail) ? kept.known : null;
  }

  /** For reads alone: under the lock, a history is checked besides. */
  keepRead(home: FileHome, tail: WalTail, known: KnownHistory): void {
    this.#put(home, { tail, known, last: this.last(home) });
  }

  forget({ key }: FileHome): void {
    this.#kept.delete(key);
  }

  #put({ key }: FileHome, kept: KeptHistory): void {
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    let files = 0;
    for (const each of this.#kept.values()) files += filesOf(each);
    for (const [oldest, each] of this.#kept) {
      if (this.#kept.size <= homesMax && files <= filesMax) break;
      this.#kept.delete(oldest);
      files -= filesOf(each);
    }
  }
}

const filesOf = ({ known: { origins }, last }: KeptHistory): number =>
  origins.size + (last === null || last === origins ? 0 : last.size);

/** The home, and where its history is kept. */
interface HistoryOfHome {
  readonly home: FileHome;
  /** The session in which the home is held; `null` as long as there is none. */
  readonly session: () => { readonly history: HistorySource } | null;
  /** The state in which the home is read without a session; `null` if it is not known. */
  readonly tail: WalTail | null;
  readonly kept: KeptHistories;
}

interface HistorySource {
  readonly known: KnownHistory;
  readonly versions: () => Promise<Version[]>;
  readonly contentsOf: (hashes: Iterable<string>) => Promise<ReadonlyMap<string, Uint8Array>>;
}

/** The history of a home: as its session knows it, or as the disk has it if there is no session. */
export class HeldFileHistory implements HeldHistory {
  readonly #of: HistoryOfHome;
  #onDisk: HistorySource | null = null;
  readonly originOf: HeldHistory["originOf"] = async (scope, path) => this.#source.known.origins.of(scope, path);
  readonly origins: HeldHistory["origins"] = async () => this.#source.known.origins.entries();
  readonly loweredRuns: HeldHistory["loweredRuns"] = async () => this.#source.known.origins.loweredRuns;
  readonly versions: HeldHistory["versions"] = async () =>
    (await this.#source.versions()).filter(({ files }) => files.length > 0);
  readonly contentsOf: HeldHistory["contentsOf"] = async (hashes) => this.#source.contentsOf(hashes);

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

  get #source(): HistorySource {
    return this.#of.session()?.history ?? (this.#onDisk ??= historyOnDisk(this.#of));
  }
}

/** Changes nothing. */
function historyOnDisk({ home, tail, kept }: HistoryOfHome): HistorySource {
  function* look<Result>(work: (whole: WholeHistory, wal: Wal | null) => Pieces<Result>): Pieces<Result> {
    using folder = HomeFolder.open(home);
    const own = folder?.openOwn() ?? null;
    using history = own && HistoryFolder.open(own);
    using wal = own && Wal.open(own, home, { isRead: true });
    return yield* work({ history, queued: yield* versionsInRecords(wal?.records ?? []) }, wal);
  }
  function* load(whole: WholeHistory, wal: Wal | null): Pieces<KnownHistory> {
    const known = yield* loadHistory(whole, wal);
    if (tail && wal && isSameTail(wal.tail, tail)) kept.keepRead(home, tail, known);
    return known;
  }
  return {
    known: (tail && kept.readOf(home, tail)) ?? atOnce(look(load)),
    versions: () => inTurns(look(versionsIn)),
    contentsOf: (hashes) => inTurns(look((whole) => contentsOf(whole, hashes))),
  };
}
