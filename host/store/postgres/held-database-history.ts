import type { OriginClass } from "../../../shared/origin.ts";
import { giveTurn } from "../../values/turns.ts";
import { digestOf } from "../reading.ts";
import type { HeldHistory } from "../versions/held-history.ts";
import { addLowered } from "../versions/lowered-runs.ts";
import type { LoweredRun } from "../versions/lowered-runs.ts";
import { isStatedClass } from "../versions/present-origins.ts";
import type { FileOrigin } from "../versions/present-origins.ts";
import { parseLine } from "../versions/version-line.ts";
import type { Version, VersionHead } from "../versions/version.ts";
import { listLowered } from "./clock-and-run-statements.ts";
import type { HeldHome } from "./held-home.ts";
import { isKnownFile, originsIn } from "./known-file.ts";
import { keptContents, listOrigins, listVersions } from "./statements.ts";
import type { Row } from "./statements.ts";

/** The history of a home. Only somebody who has the owner's role can have changed it. */
export class HeldDatabaseHistory implements HeldHistory {
  readonly #home: HeldHome;

  constructor(home: HeldHome) {
    this.#home = home;
  }

  get head(): VersionHead {
    return this.#home.facts.head;
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

/** Of rows that begin with the last version. */
export function loweredIn(rows: readonly Row[]): LoweredRun[] {
  const runs = new Map<string, LoweredRun>();
  for (const { line } of rows.toReversed()) {
    const version = parseLine(String(line));
    if (version !== null && version.run !== null) addLowered(runs, { ...version, run: version.run });
  }
  return [...runs.values()];
}
