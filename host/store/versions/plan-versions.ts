/** Makes the versions of a change set: one for what it changes, and before it those of edits that it has met. */
import { lowestOf } from "../../../shared/origin.ts";
import type { OriginClass } from "../../../shared/origin.ts";
import type { Seen } from "../../values/change-set.ts";
import { atOnce } from "../../values/turns.ts";
import type { Pieces } from "../../values/turns.ts";
import type { PlannedFile } from "../plan-changes.ts";
import type { LoweredRun } from "./lowered-runs.ts";
import { lowestByContent } from "./lowest-by-content.ts";
import { placeKey } from "./present-origins.ts";
import type { PresentOrigins } from "./present-origins.ts";
import { headAfter, lineOf } from "./version-line.ts";
import { isOfEarlier, unstatedFacts } from "./version.ts";
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
  /** Versions are missing. Then of files that differ from what is known, nobody can say where they come from. */
  readonly isBroken: boolean;
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

export function* planVersions(ground: VersionGround, change: VersionedChange): Pieces<PlannedVersion[]> {
  const earlier = new EarlierTrust(ground.versions);
  const found = yield* foundEdits(ground, change, earlier);
  const trusts = new Map([...found.edited, ...found.putBack].map((file) => [placeKey(file), file]));
  const trustOf = (file: Place): OriginClass | null => {
    const known = trusts.get(placeKey(file)) ?? ground.origins.of(file.scope, file.path);
    return known?.trust ?? null;
  };
  const { facts, kind, planned } = change;
  const ofContent = (sha256: string): OriginClass | null => (kind === "imported" ? earlier.ofContent(sha256) : null);
  const ofRestored = (file: Restored): OriginClass | null => {
    const had = isOfEarlier(kind) ? earlier.ofRestored(file) : null;
    return had && lowestOf(had, ...(ground.isBroken ? [ground.unknown] : []));
  };
  // What is put back from the history comes from there, and not from a file that happens to say the same.
  const removed = isOfEarlier(kind) ? new Map<string, string>() : removedIn(planned, trustOf);
  const told = planned.flatMap(({ trustMax }) => trustMax ?? []);
  const ofMade = kind === "imported" && told.length > 0 ? lowestOf(...told) : null;
  const known = { trustOf, removed, ofContent, ofRestored, ofMade };
  const files: VersionedFile[] = [];
  for (const file of planned) {
    yield;
    if (!file.isSame) files.push(versionedFile(file, change, known));
  }
  return yield* chained(ground.origins.head, [
    ...editedByHand(found.edited, "edited", facts.atMs),
    ...editedByHand(found.putBack, "put back", facts.atMs),
    { facts, kind, files },
  ]);
}

type Place = Pick<VersionedFile, "scope" | "path">;

/** The files that a change set removes, by scope and content; of several, the least trusted. */
function removedIn(
  planned: readonly PlannedFile[],
  trustOf: (file: Place) => OriginClass | null,
): ReadonlyMap<string, string> {
  const removed = new Map<string, string>();
  for (const { scope, path, before, after } of planned) {
    if (after !== null || before === null) continue;
    const key = `${scope}:${before}`;
    const other = removed.get(key);
    const [mine, others] = [trustOf({ scope, path }), other === undefined ? null : trustOf({ scope, path: other })];
    if (mine === null || others === null || lowestOf(mine, others) === mine) removed.set(key, path);
  }
  return removed;
}

type Draft = Pick<Version, "files" | "kind"> & { readonly facts: WriteFacts };

/** Numbers the versions that have files, each with the hash of the one before. */
export function* chained(head: VersionHead, drafts: readonly Draft[]): Pieces<PlannedVersion[]> {
  const planned: PlannedVersion[] = [];
  let last = head;
  for (const { facts, kind, files } of drafts) {
    if (files.length === 0 && kind !== "lowered") continue;
    yield;
    const version = { ...facts, seq: last.seq + 1, prev: last.hash, ...(kind && { kind }), files };
    const line = lineOf(version);
    last = headAfter(version, line);
    planned.push({ version, line, head: last });
  }
  return planned;
}

/** The version that says that the trust of a run has fallen. `principal`: the user. */
export function loweringAfter(
  head: VersionHead,
  { run, trust, atMs }: LoweredRun,
  principal: string,
): PlannedVersion[] {
  const facts = { ...unstatedFacts(atMs), principal, class: trust, trust, run };
  return atOnce(chained(head, [{ facts, kind: "lowered", files: [] }]));
}

/** An edit by hand is the owner's, whatever the text was before; its trust is lower if that of the text before was. */
function editedByHand(files: readonly VersionedFile[], kind: VersionKind, atMs: number): Draft[] {
  if (files.length === 0) return [];
  const trust = lowestOf(...files.map((file) => file.trust));
  return [{ facts: { ...unstatedFacts(atMs), class: "owner_edit", trust }, kind, files }];
}

/** What is known of the files of a change set before it. */
interface Known {
  readonly trustOf: (file: Place) => OriginClass | null;
  /** The paths of files that it removes, by scope and content. A plugin restores a file by writing what is removed. */
  readonly removed: ReadonlyMap<string, string>;
  /** The lowest trust of versions with a content, for an import; `null` if there is none. */
  readonly ofContent: (sha256: string) => OriginClass | null;
  /** The trust of a content that is put back; `null` if it is none. */
  readonly ofRestored: (file: Restored) => OriginClass | null;
  /** Of what a plugin has made from imported files: the lowest trust of these; `null` if none is told. */
  readonly ofMade: OriginClass | null;
}

type Restored = Place & { readonly sha256: string };

function versionedFile(
  { scope, path, before, sha256, writtenAt, trustMax, ...file }: PlannedFile,
  { facts, kind }: VersionedChange,
  { trustOf, removed, ofContent, ofRestored, ofMade }: Known,
): VersionedFile {
  const from = file.from ?? (sha256 === null ? null : (removed.get(`${scope}:${sha256}`) ?? null));
  const moved = from === null ? null : trustOf({ scope, path: from });
  const replaced = before === null ? null : trustOf({ scope, path });
  const edited = writtenAt === null ? null : trustOf({ scope, path: writtenAt });
  const told = trustMax ?? (before === null ? ofMade : null);
  const ofOthers = [replaced, edited, told, sha256 === null ? null : ofContent(sha256)].filter((each) => each !== null);
  // What it replaces is what the owner wants to be rid of. It says nothing about what was there before.
  const restored = sha256 === null ? null : ofRestored({ scope, path, sha256 });
  const bounds = restored === null ? ofOthers : [restored];
  // The owner approves what is written, not what moves out of its way.
  const written = kind === "approved" ? facts.trust : lowestOf(facts.trust, ...bounds);
  return { scope, path, before, sha256, ...(from !== null && { from }), trust: moved ?? written };
}

interface FoundEdits {
  readonly edited: readonly VersionedFile[];
  readonly putBack: readonly VersionedFile[];
}

/** The files that are not as their last version has left them. */
function* foundEdits(
  { origins, unknown, isBroken }: VersionGround,
  { planned, seen }: VersionedChange,
  earlier: EarlierTrust,
): Pieces<FoundEdits> {
  const present = new Map<string, Pick<VersionedFile, "scope" | "path" | "sha256">>();
  for (const { scope, path, digest } of seen) {
    yield;
    present.set(placeKey({ scope, path }), { scope, path, sha256: digest });
  }
  for (const { scope, path, before } of planned) {
    yield;
    present.set(placeKey({ scope, path }), { scope, path, sha256: before });
  }
  const edited: VersionedFile[] = [];
  const putBack: VersionedFile[] = [];
  for (const { scope, path, sha256 } of present.values()) {
    yield;
    const known = origins.of(scope, path);
    if (sha256 === (known?.sha256 ?? null)) continue;
    const before = known?.sha256 ?? null;
    const old = sha256 === null ? null : earlier.ofFile({ scope, path, sha256 });
    // A file that somebody has moved or copied by hand has a content that another one had.
    const moved = sha256 === null || known !== null ? null : earlier.ofContent(sha256);
    const lost = isBroken ? unknown : null;
    const trust = lowestOf(known?.trust ?? unknown, ...[old, moved, lost].filter((each) => each !== null));
    (old === null ? edited : putBack).push({ scope, path, before, sha256, trust });
  }
  return { edited, putBack };
}

/** The trust of earlier versions. All versions are read once, when they are first asked for. */
class EarlierTrust {
  readonly #versions: VersionGround["versions"];
  #known: Readonly<Record<"ofFile" | "lowestOfFile" | "ofContent", ReadonlyMap<string, OriginClass>>> | null = null;

  constructor(versions: VersionGround["versions"]) {
    this.#versions = versions;
  }

  /** Of the last version of a file with this content; `null` if there was none. */
  ofFile({ scope, path, sha256 }: Place & { readonly sha256: string }): OriginClass | null {
    return this.#all.ofFile.get(`${placeKey({ scope, path })}:${sha256}`) ?? null;
  }

  /** The lowest of versions of any file with this content; `null` if there was none. */
  ofContent(sha256: string): OriginClass | null {
    return this.#all.ofContent.get(sha256) ?? null;
  }

  /** The lowest of versions of a file with this content; `null` if there was none. */
  ofRestored({ scope, path, sha256 }: Restored): OriginClass | null {
    return this.#all.lowestOfFile.get(`${placeKey({ scope, path })}:${sha256}`) ?? null;
  }

  get #all() {
    if (this.#known !== null) return this.#known;
    const ofFile = new Map<string, OriginClass>();
    const lowestOfFile = new Map<string, OriginClass>();
    const all = this.#versions().flatMap(({ files }) => files);
    for (const { scope, path, sha256, trust } of all) {
      if (sha256 === null) continue;
      const key = `${placeKey({ scope, path })}:${sha256}`;
      ofFile.set(key, trust);
      lowestOfFile.set(key, lowestOf(lowestOfFile.get(key) ?? trust, trust));
    }
    this.#known = { ofFile, lowestOfFile, ofContent: lowestByContent(all) };
    return this.#known;
  }
}
