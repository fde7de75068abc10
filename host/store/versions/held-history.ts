import type { OriginClass } from "../../../shared/origin.ts";
import type { LoweredRun } from "./lowered-runs.ts";
import type { FileOrigin } from "./present-origins.ts";
import type { Version, VersionHead } from "./version.ts";

/** The history of what is held. Must not be used after the work has ended. */
export interface HeldHistory {
  readonly head: VersionHead;

  /** The last version of a commit that has files, without those of runs whose trust has fallen with it. */
  readonly filesHead: VersionHead;

  /** Versions are missing, or somebody has changed them. */
  readonly isBroken: boolean;

  /** Where the files come from that no version knows. */
  readonly unknown: OriginClass;

  /** Whether anybody has said of any file where it comes from. */
  readonly hasStated: boolean;

  /** Where the present content of a file comes from; `null` if no version has left a file there. */
  originOf(scope: string, path: string): Promise<FileOrigin | null>;

  /** The places of all files that versions have left, as `scope:path`, with their origins. */
  origins(): Promise<Iterable<readonly [string, FileOrigin]>>;

  /** The runs whose trust has fallen, the last one last. */
  loweredRuns(): Promise<LoweredRun[]>;

  /** All versions that have files, the oldest first. */
  versions(): Promise<Version[]>;

  /** Contents by their hashes, without those that are not kept. To ask for many at once takes little longer than for one. */
  contentsOf(hashes: Iterable<string>): Promise<ReadonlyMap<string, Uint8Array>>;
}
