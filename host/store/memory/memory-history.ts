import type { Seen } from "../../values/change-set.ts";
import { agree } from "../../values/clock-reading.ts";
import type { ClockReading } from "../../values/clock-reading.ts";
import { atOnce } from "../../values/turns.ts";
import type { PlannedFile } from "../plan-changes.ts";
import type { StoreSettings } from "../store-settings.ts";
import type { CommitFacts } from "../store.ts";
import { agedContents, isAgingDue } from "../versions/aged-contents.ts";
import type { HeldHistory } from "../versions/held-history.ts";
import type { LoweredRun } from "../versions/lowered-runs.ts";
import { loweringAfter, planVersions } from "../versions/plan-versions.ts";
import type { PlannedVersion } from "../versions/plan-versions.ts";
import { PresentOrigins } from "../versions/present-origins.ts";
import { contentsOfPurged } from "../versions/purged-contents.ts";
import { unstatedFacts } from "../versions/version.ts";
import type { Version } from "../versions/version.ts";

/** How many versions are kept. */
const versionsMax = 20_000;

/** The versions of one user's files, or of those of a shared store, in memory. Nobody edits these files by hand. */
export class MemoryHistory {
  readonly #origins = new PresentOrigins();
  readonly #versions: Version[] = [];
  readonly #contents = new Map<string, Buffer>();
  readonly #settings: () => StoreSettings;
  #bytes = 0;
  #aged: ClockReading | null = null;

  constructor(settings: () => StoreSettings) {
    this.#settings = settings;
  }

  /** Throws nothing: a plan that was made can be kept. */
  plan(planned: readonly PlannedFile[], { facts, kind }: CommitFacts): PlannedVersion[] {
    const ground = {
      origins: this.#origins,
      unknown: "owner_edit",
      isBroken: false,
      versions: () => this.#versions,
    } as const;
    const seen: readonly Seen[] = [];
    return atOnce(planVersions(ground, { facts: facts ?? unstatedFacts(Date.now()), kind, planned, seen }));
  }

  add(versions: readonly PlannedVersion[], planned: readonly PlannedFile[]): void {
    for (const { version, head } of versions) {
      this.#origins.add(version, head);
      this.#versions.push(version);
    }
    this.#versions.splice(0, this.#versions.length - versionsMax);
    for (const { sha256, after, isSame } of planned) {
      if (sha256 !== null && after !== null && !isSame) this.#keep(sha256, after);
    }
    this.#prune();
  }

  /** The trust of a run has fallen. */
  noteLowered(lowered: LoweredRun, principal: string): void {
    this.add(loweringAfter(this.#origins.head, lowered, principal), []);
  }

  /** Files are about to be removed from the trash for good. */
  forget(gone: readonly PlannedFile[], derived: CommitFacts["derived"] = new Map()): void {
    const purged = contentsOfPurged(this.#versions, { gone, hashes: [], derived }, this.#origins);
    for (const sha256 of purged) this.#remove(sha256);
  }

  get held(): HeldHistory {
    const origins = this.#origins;
    return {
      get head() {
        return origins.head;
      },
      isBroken: false,
      unknown: "owner_edit",
      get hasStated() {
        return origins.hasStated;
      },
      originOf: async (scope, path) => origins.of(scope, path),
      origins: async () => origins.entries(),
      loweredRuns: async () => origins.loweredRuns,
      versions: async () => this.#versions.filter(({ files }) => files.length > 0),
      contentsOf: async (hashes) => new Map(Array.from(hashes).flatMap((sha256) => this.#found(sha256))),
    };
  }

  #found(sha256: string): [string, Buffer][] {
    const content = this.#contents.get(sha256);
    return content === undefined ? [] : [[sha256, content]];
  }

  #keep(sha256: string, content: Buffer): void {
    if (this.#contents.has(sha256)) return;
    this.#contents.set(sha256, Buffer.from(content));
    this.#bytes += content.length;
  }

  #prune(): void {
    const { history, clock } = this.#settings();
    const nowMs = clock();
    if (isAgingDue(this.#aged?.atMs ?? 0, nowMs)) {
      const { agreedMs, noted } = agree(this.#aged, nowMs);
      const bound = { daysMax: history.daysMax, nowMs: agreedMs, isThere: () => true };
      for (const sha256 of agedContents(this.#versions, this.#origins, bound)) this.#remove(sha256);
      this.#aged = noted;
    }
    for (const oldest of this.#contents.keys()) {
      if (this.#bytes <= history.bytesMax) return;
      this.#remove(oldest);
    }
  }

  #remove(sha256: string): void {
    this.#bytes -= this.#contents.get(sha256)?.length ?? 0;
    this.#contents.delete(sha256);
  }
}
