import type { RecordDecision } from "./held-records.ts";
import type { KnownSizes } from "./scope-size.ts";
import type { VersionKind, WriteFacts } from "./versions/version.ts";

/** What else is known of a change set. */
export interface CommitFacts {
  /** The sizes that its reader has measured. */
  readonly knownSizes?: KnownSizes | undefined;
  /** What the history says of it. Default: nobody has told anything. */
  readonly facts?: WriteFacts | undefined;
  readonly kind?: VersionKind | undefined;
  /** Of a purge: the files that plugins make from others. What they have said of the purged files goes as well. */
  readonly derived?: DerivedFiles | undefined;
  /** What the commit decides about a record. Only with `HoldOptions.records`. */
  readonly decision?: RecordDecision | undefined;
}

/** By scope, the paths and folders of files that a plugin makes from its other files: see `derivedFiles` of manifests. */
export type DerivedFiles = ReadonlyMap<string, readonly string[]>;
