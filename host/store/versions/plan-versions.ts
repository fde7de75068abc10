/** Makes the versions of a change set: one for what it changes, and before it those of edits that it has met. */
import { lowestOf } from "../../../shared/origin.ts";
import type { OriginClass } from "../../../shared/origin.ts";
import type { Seen } from "../../values/change-set.ts";
import type { PlannedFile } from "../plan-changes.ts";
import { digestOf } from "../reading.ts";
import { placeKey } from "./present-origins.ts";
import type { PresentOrigins } from "./present-origins.ts";
import { headAfter, lineOf } from "./version-line.ts";
import { unstatedFacts } from "./version.ts";
import type { Version, VersionedFile, VersionHead, VersionKind, WriteFacts } from "./version.ts";

export interface PlannedVersion {
  readonly version: Version;
  readonly line: string;
  /** The history's end after it. */
  readonly head: VersionHead;
}

/** What the plan is made from. */
export interface VersionGround {
  readonly origins: PresentOrigins;
  /** Of a file that no version knows: of hand-made ones, `owner_edit`. */
  readonly unknown: OriginClass;
  /** All versions so far, the oldest first. Only asked for in rare cases. */
  readonly versions: () => readonly Version[];
}

/** A change set: its facts, and its files. */
export interface VersionedChange {
  readonly facts: WriteFacts;
  readonly kind?: VersionKind | undefined;
  readonly planned: readonly PlannedFile[];
  /** The files that were read for it. */
  readonly seen: readonly Seen[];
}

export function planVersions(ground: VersionGround, change: VersionedChange): PlannedVersion[] {
  const found = foundEdits(ground, change);
  const trusts = new Map([...found.edited, ...found.putBack].map((file) => [placeKey(file), file]));
  const trustOf = (file: Pick<VersionedFile, "scope" | "path">): OriginClass | null => {
    const known = trusts.get(placeKey(file)) ?? ground.origins.of(file.scope, file.path);
    return known?.trust ?? null;
  };
  const { facts, kind, planned } = change;
  const earlier = kind === "imported" ? trustByContent(ground) : () => null;
  const gone = planned.filter(({ after, before }) => after === null && before !== null);
  const removed = new Map(gone.map(({ scope, before, path }) => [`${scope}:${before}`, path]));
  const byHand = unstatedFacts(facts.atMs);
  return chained(ground.origins.head, [
    { facts: { ...byHand, ...classed(found.edited) }, kind: "edited", files: found.edited },
    { facts: { ...byHand, ...classed(found.putBack) }, kind: "put back", files: found.putBack },
    {
      facts,
      kind,
      files: planned.filter(isChanged).map((file) => versionedFile(file, change, { trustOf, removed, earlier })),
    },
  ]);
}

type Draft = Pick<Version, "files" | "kind"> & { readonly facts: WriteFacts };

/** Numbers the versions that have files, each with the hash of the one before. */
export function chained(head: VersionHead, drafts: readonly Draft[]): PlannedVersion[] {
  const planned: PlannedVersion[] = [];
  let last = head;
  for (const { facts, kind, files } of drafts) {
    if (files.length === 0) continue;
    const version = { ...facts, seq: last.seq + 1, prev: last.hash, ...(kind && { kind }), files };
    const line = lineOf(version);
    last = headAfter(version, line);
    planned.push({ version, line, head: last });
  }
  return planned;
}

/** An edit by hand is the owner's, whatever the text was before; its trust is lower if that of the text before was. */
function classed(files: readonly VersionedFile[]): Pick<WriteFacts, "class" | "trust"> {
  return { class: "owner_edit", trust: lowestOf(...files.map(({ trust }) => trust)) };
}

const isChanged = ({ isSame }: PlannedFile): boolean => !isSame;

/** What is known of the files of a change set before it. */
interface Known {
  readonly trustOf: (file: Pick<VersionedFile, "scope" | "path">) => OriginClass | null;
  /** The paths of files that it removes, by scope and content. A plugin restores a file by writing what is removed. */
  readonly removed: ReadonlyMap<string, string>;
  /** The lowest trust of versions with this content, of any file, for an import; `null` if there is none. */
  readonly earlier: (sha256: string | null) => OriginClass | null;
}

function versionedFile(
  { scope, path, before, after, ...file }: PlannedFile,
  { facts, kind }: VersionedChange,
  { trustOf, removed, earlier }: Known,
): VersionedFile {
  const sha256 = digestOf(after);
  const from = file.from ?? (sha256 === null ? null : (removed.get(`${scope}:${sha256}`) ?? null));
  const moved = from === null ? null : trustOf({ scope, path: from });
  const replaced = before === null ? null : trustOf({ scope, path });
  const known = [replaced, earlier(sha256)].filter((each) => each !== null);
  const trust = kind === "approved" ? facts.trust : (moved ?? lowestOf(facts.trust, ...known));
  return { scope, path, before, sha256, ...(from !== null && { from }), trust };
}

interface FoundEdits {
  readonly edited: readonly VersionedFile[];
  readonly putBack: readonly VersionedFile[];
}

/** The files that are not as their last version has left them. */
function foundEdits({ origins, unknown, versions }: VersionGround, { planned, seen }: VersionedChange): FoundEdits {
  const present = new Map<string, Pick<VersionedFile, "scope" | "path" | "sha256">>();
  for (const { scope, path, digest } of seen) present.set(placeKey({ scope, path }), { scope, path, sha256: digest });
  for (const { scope, path, before } of planned)
    present.set(placeKey({ scope, path }), { scope, path, sha256: before });
  const [edited, putBack]: VersionedFile[][] = [[], []];
  for (const { scope, path, sha256 } of present.values()) {
    const known = origins.of(scope, path);
    if (sha256 === (known?.sha256 ?? null)) continue;
    const before = known?.sha256 ?? null;
    const trustBefore = known?.trust ?? unknown;
    const old = sha256 === null ? null : trustOfEarlier(versions(), { scope, path, sha256 });
    const file = { scope, path, before, sha256, trust: lowestOf(trustBefore, old ?? trustBefore) };
    (old === null ? edited : putBack)?.push(file);
  }
  return { edited: edited ?? [], putBack: putBack ?? [] };
}

/** The trust of the last version of a file with this content; `null` if there was none. */
function trustOfEarlier(
  versions: readonly Version[],
  { scope, path, sha256 }: Pick<VersionedFile, "scope" | "path" | "sha256">,
): OriginClass | null {
  const files = versions.flatMap((version) => version.files);
  const isIt = (file: VersionedFile): boolean => file.scope === scope && file.path === path && file.sha256 === sha256;
  return files.findLast(isIt)?.trust ?? null;
}

function trustByContent({ versions }: VersionGround): Known["earlier"] {
  const lowest = new Map<string, OriginClass>();
  for (const { sha256, trust } of versions().flatMap(({ files }) => files)) {
    if (sha256 !== null) lowest.set(sha256, lowestOf(lowest.get(sha256) ?? trust, trust));
  }
  return (sha256) => (sha256 === null ? null : (lowest.get(sha256) ?? null));
}
