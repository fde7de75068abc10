/** Makes the versions of a change set: one for what it changes, and before it those of edits that it has met. */
import { lowestOf } from "../../../shared/origin.ts";
import type { OriginClass } from "../../../shared/origin.ts";
import { placeKey } from "../../values/change-set.ts";
import type { Place, Seen } from "../../values/change-set.ts";
import { atOnce } from "../../values/turns.ts";
import type { Pieces } from "../../values/turns.ts";
import type { PlannedFile } from "../plan-changes.ts";
import type { KnownOrigins, LoweredRun } from "./present-origins.ts";
import { headAfter, isOfEarlier, isOfOwner, lineOf, unstatedFacts } from "./version.ts";
import type { PlannedVersion, Version, VersionedFile, VersionHead, VersionKind, WriteFacts } from "./version.ts";

/** What the plan is made from. */
export interface VersionGround extends KnownOrigins {
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

type Draft = Pick<Version, "files" | "kind"> & { readonly facts: WriteFacts };

export function* planVersions(ground: VersionGround, change: VersionedChange): Pieces<PlannedVersion[]> {
  const earlier = new EarlierTrust(ground.versions);
  const [edited, putBack] = yield* foundEdits(ground, change, earlier);
  const { facts, kind } = change;
  const files = yield* changedFiles(ground, change, { earlier, found: [...edited, ...putBack] });
  const drafts = [editedByHand(edited, "edited", facts.atMs), editedByHand(putBack, "put back", facts.atMs)];
  return yield* chained(ground.origins.head, [...drafts, { facts, kind, files }]);
}

/** Plans, and plans again with all versions if the plan asks for them: few do, and there can be many. */
export async function planAsking<Plan>(
  plan: (versions: VersionGround["versions"]) => Promise<Plan>,
  readAll: () => Promise<readonly Version[]>,
): Promise<Plan> {
  let areAsked = false;
  const first = await plan(() => {
    areAsked = true;
    return [];
  });
  if (!areAsked) return first;
  const all = await readAll();
  return await plan(() => all);
}

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
function editedByHand(files: readonly VersionedFile[], kind: VersionKind, atMs: number): Draft {
  const trust = lowestOf(...files.map((file) => file.trust));
  return { facts: { ...unstatedFacts(atMs), class: "owner_edit", trust }, kind, files };
}

/** The files that are not as their last version has left them. */
function* foundEdits(
  { origins, unknown, isBroken }: VersionGround,
  { planned, seen }: VersionedChange,
  earlier: EarlierTrust,
): Pieces<[edited: VersionedFile[], putBack: VersionedFile[]]> {
  const present = new Map<string, Place & { readonly sha256: string | null }>();
  for (const file of [...seen, ...planned]) {
    yield;
    const { scope, path } = file;
    present.set(placeKey(file), { scope, path, sha256: "digest" in file ? file.digest : file.before });
  }
  const [edited, putBack]: [VersionedFile[], VersionedFile[]] = [[], []];
  for (const file of present.values()) {
    yield;
    const { scope, path, sha256 } = file;
    const known = origins.of(scope, path);
    if (sha256 === (known?.sha256 ?? null)) continue;
    const old = sha256 === null ? null : earlier.ofFile(file, sha256);
    // A file that somebody has moved or copied by hand has a content that another one had.
    const moved = sha256 === null || known !== null ? null : earlier.ofContent(sha256);
    const trust = lowestKnown(known?.trust ?? unknown, old, moved, isBroken ? unknown : null);
    (old === null ? edited : putBack).push({ scope, path, before: known?.sha256 ?? null, sha256, trust });
  }
  return [edited, putBack];
}

const lowestKnown = (first: OriginClass, ...others: readonly (OriginClass | null)[]): OriginClass =>
  lowestOf(first, ...others.filter((each) => each !== null));

/** What a change set does to each file. `found`: the edits that it has met. */
function* changedFiles(
  { origins, unknown, isBroken }: VersionGround,
  { facts, kind, planned }: VersionedChange,
  { earlier, found }: { readonly earlier: EarlierTrust; readonly found: readonly VersionedFile[] },
): Pieces<VersionedFile[]> {
  const edits = new Map(found.map((file) => [placeKey(file), file]));
  const trustOf = (scope: string, path: string): OriginClass | null =>
    (edits.get(placeKey({ scope, path })) ?? origins.of(scope, path))?.trust ?? null;
  // What is put back from the history comes from there, and not from a file that happens to say the same.
  const removed = isOfEarlier(kind) ? new Map<string, string>() : removedIn(planned, trustOf);
  const told = planned.flatMap(({ trustMax }) => trustMax ?? []);
  // Of what a plugin has made from imported files: the lowest trust of these.
  const ofMade = kind === "imported" && told.length > 0 ? lowestOf(...told) : null;
  const trustOfWritten = ({ scope, path, before, sha256, writtenAt, trustMax }: PlannedFile): OriginClass => {
    // The owner approves what is written, not what moves out of its way.
    if (isOfOwner(kind)) return lowestKnown(facts.trust, trustMax);
    const restored = sha256 !== null && isOfEarlier(kind) ? earlier.lowestOfFile({ scope, path }, sha256) : null;
    // What it replaces is what the owner wants to be rid of. It says nothing about what was there before.
    if (restored !== null) return lowestKnown(facts.trust, restored, isBroken ? unknown : null);
    return lowestKnown(
      facts.trust,
      before === null ? null : trustOf(scope, path),
      writtenAt === null ? null : trustOf(scope, writtenAt),
      trustMax ?? (before === null ? ofMade : null),
      sha256 !== null && kind === "imported" ? earlier.ofContent(sha256) : null,
    );
  };
  const files: VersionedFile[] = [];
  for (const file of planned) {
    yield;
    const { scope, path, before, sha256 } = file;
    // A plugin moves a file by writing what it takes away elsewhere.
    const from = file.from ?? removed.get(`${scope}:${sha256}`) ?? null;
    const moved = from === null ? null : trustOf(scope, from);
    const trust = moved ?? trustOfWritten(file);
    // The owner can confirm what is there, and take that back.
    const isTold = isOfOwner(kind) || isOfEarlier(kind);
    if (file.isSame && (!isTold || trust === trustOf(scope, path))) continue;
    files.push({ scope, path, before, sha256, ...(from !== null && { from }), trust });
  }
  return files;
}

/** The paths of files that a change set removes, by scope and content; of several, the least trusted. */
function removedIn(
  planned: readonly PlannedFile[],
  trustOf: (scope: string, path: string) => OriginClass | null,
): ReadonlyMap<string, string> {
  const removed = new Map<string, string>();
  for (const { scope, path, before, after } of planned) {
    if (after !== null || before === null) continue;
    const key = `${scope}:${before}`;
    const other = removed.get(key);
    const [mine, others] = [trustOf(scope, path), other === undefined ? null : trustOf(scope, other)];
    if (mine === null || others === null || lowestOf(mine, others) === mine) removed.set(key, path);
  }
  return removed;
}

/** The trust of earlier versions. All versions are read once, when they are first asked for. */
class EarlierTrust {
  readonly #versions: VersionGround["versions"];
  /** Of files with each content: by place and hash, and by the hash alone. */
  #known: Readonly<Record<"last" | "lowest", ReadonlyMap<string, OriginClass>>> | null = null;

  constructor(versions: VersionGround["versions"]) {
    this.#versions = versions;
  }

  /** Of the last version of a file with this content; `null` if there was none. */
  ofFile(place: Place, sha256: string): OriginClass | null {
    return this.#all.last.get(`${placeKey(place)}:${sha256}`) ?? null;
  }

  /** The lowest of versions of a file with this content; `null` if there was none. */
  lowestOfFile(place: Place, sha256: string): OriginClass | null {
    return this.#all.lowest.get(`${placeKey(place)}:${sha256}`) ?? null;
  }

  /** The lowest of versions of any file with this content; `null` if there was none. */
  ofContent(sha256: string): OriginClass | null {
    return this.#all.lowest.get(sha256) ?? null;
  }

  get #all() {
    if (this.#known !== null) return this.#known;
    const [last, lowest] = [new Map<string, OriginClass>(), new Map<string, OriginClass>()];
    for (const { trust, sha256, ...place } of this.#versions().flatMap(({ files }) => files)) {
      if (sha256 === null) continue;
      const key = `${placeKey(place)}:${sha256}`;
      last.set(key, trust);
      for (const each of [key, sha256]) lowest.set(each, lowestOf(lowest.get(each) ?? trust, trust));
    }
    return (this.#known = { last, lowest });
  }
}
