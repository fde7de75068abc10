import { agree } from "../../values/clock-reading.ts";
import type { ClockReading } from "../../values/clock-reading.ts";
import { atOnce } from "../../values/turns.ts";
import type { StoreSettings } from "../definition.ts";
import type { EngineCommit } from "../engine.ts";
import type { PlannedFile } from "../plan-changes.ts";
import { agedContents, contentsOfPurged, isAgingDue } from "../versions/old-contents.ts";
import { loweringAfter, planVersions } from "../versions/plan-versions.ts";
import { PresentOrigins, toldBy } from "../versions/present-origins.ts";
import type { HeldHistory, KnownOrigins } from "../versions/present-origins.ts";
import type { PlannedVersion, Version } from "../versions/version.ts";

const versionsMax = 20_000;

/** The versions of one home's files. */
export class MemoryHistory {
  /** Nobody edits these files by hand. */
  readonly #known: KnownOrigins = { origins: new PresentOrigins(), unknown: "owner_edit", isBroken: false };
  readonly #versions: Version[] = [];
  /** By hash, the oldest first. */
  readonly #contents = new Map<string, Buffer>();
  #bytes = 0;
  #aged: ClockReading | null = null;
  readonly told: HeldHistory = {
    ...toldBy(() => this.#known),
    versions: async () => this.#versions.filter(({ files }) => files.length > 0),
    contentsOf: async (hashes) => {
      const found = Array.from(hashes, (sha256) => [sha256, this.#contents.get(sha256)] as const);
      return new Map(found.flatMap(([sha256, content]) => (content ? [[sha256, content]] : [])));
    },
  };

  /** Notes a commit, whose files are planned already. Throws nothing. */
  add(planned: readonly PlannedFile[], commit: EngineCommit, settings: StoreSettings): void {
    const { home, facts, kind, derived, lowered } = commit;
    const { origins } = this.#known;
    if (kind === "purged")
      this.#forget(contentsOfPurged(this.#versions, { gone: planned, hashes: [], derived }, origins));
    const ground = { ...this.#known, versions: () => this.#versions };
    this.#append(atOnce(planVersions(ground, { facts, kind, planned, seen: [] })));
    for (const run of lowered) this.#append(loweringAfter(origins.head, run, home.id));
    for (const { sha256, after, isSame } of planned) {
      if (sha256 === null || after === null || isSame || this.#contents.has(sha256)) continue;
      this.#contents.set(sha256, Buffer.from(after));
      this.#bytes += after.length;
    }
    this.#prune(settings);
  }

  #append(planned: readonly PlannedVersion[]): void {
    for (const { version, head } of planned) this.#known.origins.add(version, head);
    this.#versions.push(...planned.map(({ version }) => version));
    this.#versions.splice(0, this.#versions.length - versionsMax);
  }

  /** Forgets the contents that are too old, then the oldest ones if all together are too large. */
  #prune({ history: { daysMax, bytesMax }, clock }: StoreSettings): void {
    const nowMs = clock();
    if (isAgingDue(this.#aged?.atMs ?? 0, nowMs)) {
      const { agreedMs, noted } = agree(this.#aged, nowMs);
      const bound = { daysMax, nowMs: agreedMs, isThere: () => true };
      this.#forget(agedContents(this.#versions, this.#known.origins, bound));
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
