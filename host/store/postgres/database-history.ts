import type { OriginClass } from "../../../shared/origin.ts";
import { giveTurn, inTurns } from "../../values/turns.ts";
import type { StoreFinding } from "../holding.ts";
import { digestOf } from "../reading.ts";
import type { HeldHistory } from "../versions/held-history.ts";
import { addLowered } from "../versions/lowered-runs.ts";
import type { LoweredRun } from "../versions/lowered-runs.ts";
import { isStatedClass } from "../versions/present-origins.ts";
import type { FileOrigin } from "../versions/present-origins.ts";
import { faultInHistory } from "../versions/version-chain.ts";
import { parseLine } from "../versions/version-line.ts";
import type { Version, VersionHead } from "../versions/version.ts";
import type { DatabaseHome } from "./database-home.ts";
import { isKnownFile, notAsRecorded, originsIn } from "./known-file.ts";
import { countChanges, keptContents, listDamaged, listLowered, listOrigins, listVersions } from "./statements.ts";
import type { Row } from "./statements.ts";

/** The history of a home. Only somebody who has the owner's role can have changed it. */
export class DatabaseHistory implements HeldHistory {
  readonly #home: DatabaseHome;

  constructor(home: DatabaseHome) {
    this.#home = home;
  }

  get head(): VersionHead {
    return this.#home.facts.head;
  }

  get filesHead(): VersionHead {
    return this.#home.facts.filesHead;
  }

  get isBroken(): boolean {
    return this.#home.facts.isBroken;
  }

  /**
   * What an operator has put into the database with SQL is no user's edit. But what somebody has edited in a folder, from
   * which the home was copied, is.
   */
  get unknown(): OriginClass {
    return this.#home.facts.unknown;
  }

  get hasStated(): boolean {
    return this.#home.facts.hasStated || isStatedClass(this.unknown);
  }

  async originOf(scope: string, path: string): Promise<FileOrigin | null> {
    const [found] = await this.#home.find([{ scope, path }], false);
    return found !== undefined && isKnownFile(found) ? found.origin : null;
  }

  async origins(): Promise<[string, FileOrigin][]> {
    const [rows = []] = await this.#home.transaction.ask(listOrigins(this.#home.place));
    return originsIn(rows);
  }

  async loweredRuns(): Promise<LoweredRun[]> {
    const [rows = []] = await this.#home.transaction.ask(listLowered(this.#home.place));
    return loweredIn(rows);
  }

  async versions(): Promise<Version[]> {
    const [rows = []] = await this.#home.transaction.ask(listVersions(this.#home.place));
    const versions: Version[] = [];
    for (const { line } of rows) {
      await giveTurn();
      const version = parseLine(String(line));
      if (version !== null && version.files.length > 0) versions.push(version);
    }
    return versions;
  }

  async contentsOf(hashes: Iterable<string>): Promise<Map<string, Buffer>> {
    const [rows = []] = await this.#home.transaction.ask(keptContents(this.#home.place, [...hashes]));
    const found = rows.map(({ sha256, content }): [string, Buffer] => [String(sha256), content as unknown as Buffer]);
    return new Map(found.filter(([sha256, content]) => digestOf(content) === sha256));
  }
}

/** What somebody who has the owner's role has changed, or the disk. Every version and every content is read. */
export async function homeFindings(home: DatabaseHome): Promise<StoreFinding[]> {
  const { place } = home;
  const asked = [listVersions(place), countChanges(place), listDamaged(place)];
  const [versions = [], [counted] = [], damaged = []] = await home.transaction.ask(...asked);
  const lines = versions.map(({ line }) => String(line));
  const { isBroken, head } = home.facts;
  const fault = isBroken
    ? "the last change set is missing: no file has any trust"
    : ((await inTurns(faultInHistory(lines, head))) ?? missingIn(Number(counted?.["changes"] ?? 0), home));
  const history = fault === null ? [] : [{ code: "history-broken", path: "history", message: fault, remedy: null }];
  const contents = damaged.map(({ scope, path }) => ({
    code: "content-damaged",
    path: scope === null ? "history" : `${String(scope)}/${String(path)}`,
    message: scope === null ? "it has a content whose hash is not the recorded one" : notAsRecorded,
    remedy: scope === null ? "forget the content" : "take it as an edit of which nobody says where it comes from",
  }));
  return [...history, ...contents];
}

const missingIn = (changes: number, { facts }: DatabaseHome): string | null =>
  changes === facts.commits ? null : `${changes} change sets are there of ${facts.commits}`;

/** Of rows that begin with the last version. */
function loweredIn(rows: readonly Row[]): LoweredRun[] {
  const runs = new Map<string, LoweredRun>();
  for (const { line } of rows.toReversed()) {
    const version = parseLine(String(line));
    if (version !== null && version.run !== null) addLowered(runs, { ...version, run: version.run });
  }
  return [...runs.values()];
}
