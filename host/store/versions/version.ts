import type { OriginClass } from "../../../shared/origin.ts";

/** Who makes a change set, and where its texts come from. The same for all of its files. */
export interface WriteFacts {
  /** Milliseconds since 1970-01-01 UTC, on the runtime's clock. */
  readonly atMs: number;
  /** The tool, or the operation of the data's owner; `null` for an edit by hand. */
  readonly tool: string | null;
  /** The plugin's name; `null` if no plugin has made it. */
  readonly plugin: string | null;
  /** The user whose call it is. In another's store, too, that is the caller. */
  readonly principal: string | null;
  /** What the program said of the call. */
  readonly class: OriginClass;
  /** The lowest of its class, and of everything that its run has seen. */
  readonly trust: OriginClass;
  readonly run: string | null;
  readonly turn: string | null;
  readonly source: string | null;
  readonly callId: string | null;
  /** The id under which it has waited for its owner's approval; absent if it has not. */
  readonly approval?: string | undefined;
}

/** The facts of a change of which nobody has told anything. */
export const unstatedFacts = (atMs: number): WriteFacts => ({
  atMs,
  tool: null,
  plugin: null,
  principal: null,
  class: "unstated",
  trust: "unstated",
  run: null,
  turn: null,
  source: null,
  callId: null,
});

/** Where the history of a home ends. */
export interface VersionHead {
  /** 0 before the first version. */
  readonly seq: number;
  /** SHA-256 of the last version's line, in hex; 64 zeros before the first. */
  readonly hash: string;
}

export const noVersion: VersionHead = { seq: 0, hash: "0".repeat(64) };

/** Of what is lost, nobody can say where it came from. */
export const lostTrust = "untrusted_document" satisfies OriginClass;

/** What one version did to one file. */
export interface VersionedFile {
  readonly scope: string;
  readonly path: string;
  /** SHA-256 of the content before, in hex; `null` if there was no file. */
  readonly before: string | null;
  /** SHA-256 of the new content; `null` if the file was removed or moved away. */
  readonly sha256: string | null;
  /** Where in the scope the content was moved from; absent if it was not moved. */
  readonly from?: string | undefined;
  /** Never higher than that of the file before, unless the owner has approved the content. */
  readonly trust: OriginClass;
}

/** How a version came about, if not by a call or an operation that wrote it. */
export const versionKinds = [
  /** Somebody has changed the files without the host; found when a later change met them. */
  "edited",
  /** The same, and the content is that of an earlier version. */
  "put back",
  /** The owner has approved what a call wanted to write. */
  "approved",
  /** From files outside the store, of which nobody can say where they were before. */
  "imported",
  /** Removed from the trash for good. Its contents are not kept. */
  "purged",
  /** The owner has put the content of an earlier version back. */
  "restored",
  /** The owner has taken changes back: each file is as it was before them. */
  "undone",
  /** No change: the run has read what is trusted less, and is trusted less from then on. It has no files. */
  "lowered",
] as const;

export type VersionKind = (typeof versionKinds)[number];

/** Whether the contents of such a version are those of earlier ones, at the owner's word. */
export const isOfEarlier = (kind: VersionKind | undefined): boolean => kind === "restored" || kind === "undone";

/** One change set in the history of a home: all files that it has changed; or that a run is trusted less. */
export interface Version extends WriteFacts {
  readonly seq: number;
  readonly kind?: VersionKind | undefined;
  /** The hash of the version before. */
  readonly prev: string;
  readonly files: readonly VersionedFile[];
}
