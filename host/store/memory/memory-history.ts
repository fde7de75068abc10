import type { OriginClass } from "../../../shared/origin.ts";
import { agree } from "../../values/clock-reading.ts";
import type { ClockReading } from "../../values/clock-reading.ts";
import { atOnce } from "../../values/turns.ts";
import type { StoreSettings } from "../definition.ts";
import type { EngineCommit } from "../engine.ts";
import type { PlannedFile } from "../plan-changes.ts";
import { agedContents, contentsOfPurged, isAgingDue } from "../versions/old-contents.ts";
import { loweringAfter, planVersions } from "../versions/plan-versions.ts";
import { PresentOrigins } from "../versions/present-origins.ts";
import type { HeldHistory } from "../versions/present-origins.ts";
import type { PlannedVersion, Version } from "../versions/version.ts";

const versionsMax = 20_000;
/** Nobody edits these files by hand. */
const unknown: OriginClass = "owner_edit";

/** The versions of one home's files. */
export class MemoryHistory implements HeldHistory {
  readonly #origins = new PresentOrigins();
  readonly #versions: Version[] = [];
  /** By hash, the oldest first. */
  readonly #contents = new Map<string, Buffer>();
  #bytes = 0;
  #aged: ClockReading | null = null;
  readonly state: HeldHistory["state"] = () => {
    const { head, filesHead, hasStated } = this.#origins;
    return { head, filesHead, isBroken: false, unknown, hasStated };
  };
  readonly originOf: HeldHistory["originOf"] = async (scope, path) => this.#origins.of(scope, path);
  readonly origins: HeldHistory["origins"] = async () => this.#origins.entries();
  readonly loweredRuns: HeldHistory["loweredRuns"] = async () => this.#origins.loweredRuns;
  readonly versions: HeldHistory["versions"] = async () => this.#versions.filter(({ files }) => files.length > 0);
  readonly contentsOf: HeldHistory["contentsOf"] = async (hashes) => {
    const found = Array.from(hashes, (sha256) => [sha256, this.#contents.get(sha256)] as const);
    return new Map(found.flatMap(([sha256, content]) => (content ? [[sha256, content]] : [])));
  };

  /** Notes a commit, whose files are planned already. Throws nothing. */
  add(planned: readonly PlannedFile[], commit: EngineCommit, settings: StoreSettings): void {
    const { home, facts, kind, derived, lowered } = commit;
    if (kind === "purged")
      this.#forget(contentsOfPurged(this.#versions, { gone: planned, hashes: [], derived }, this.#origins));
    const ground = { origins: this.#origins, unknown, isBroken: false, versions: () => this.#versions };
    this.#append(atOnce(planVersions(ground, { facts, kind, planned, seen: [] })));
    for (const run of lowered) this.#append(loweringAfter(this.#origins.head, run, home.id));
    for (const { sha256, after, isSame } of planned) {
      if (sha256 === null || after === null || isSame || this.#contents.has(sha256)) continue;
      this.#contents.set(sha256, Buffer.from(after));
      this.#bytes += after.length;
    }
    this.#prune(settings);
  }

  #append(planned: readonly PlannedVersion[]): void {
    for (const { version, head } of planned) this.#origins.add(version, head);
    this.#versions.push(...planned.map(({ version }) => version));
    this.#versions.splice(0, this.#versions.length - versionsMax);
  }

  /** Forgets the contents that are too old, then the oldest ones if all together are too large. */
  #prune({ history: { daysMax, bytesMax }, clock }: StoreSettings): void {
    const nowMs = clock();
    if (isAgingDue(this.#aged?.atMs ?? 0, nowMs)) {
      const { agreedMs, noted } = agree(this.#aged, nowMs);
      this.#forget(agedContents(this.#versions, this.#origins, { daysMax, nowMs: agreedMs, isThere: () => true }));
      this.#aged = noted;
    }
    for (const oldest of this.#contents.keys()) {
      if (this.#bytes <= bytesMax) return;
      this.#forget([oldest]);
    }
  }

  #forget(hashes: Iterable<string>): void {
    for (const sha256 of hashes) {
      this.#bytes -= this.#contents.get(sha256)?.length ?? 0;
      this.#contents.delete(sha256);
    }
  }
}
