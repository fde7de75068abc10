/** Where the present contents of files come from: what the versions of a home tell, and what one can ask of them. */
import { lowestOf } from "../../../shared/origin.ts";
import type { OriginClass } from "../../../shared/origin.ts";
import * as z from "../../../shared/zod.ts";
import { placeKey } from "../../values/change-set.ts";
import type { Seen } from "../../values/change-set.ts";
import { noVersion, originClassSchema, sha256Schema, versionKinds } from "./version.ts";
import type { Version, VersionedFile, VersionHead } from "./version.ts";

export const originSchema = z.strictObject({
  /** The version that has written it. */
  seq: z.int(),
  sha256: sha256Schema,
  class: originClassSchema,
  trust: originClassSchema,
  atMs: z.int(),
  kind: z.optional(z.enum(versionKinds)),
});

/** Where the present content of a file comes from. */
export type FileOrigin = Readonly<z.infer<typeof originSchema>>;

/** `atMs`: when it fell last. */
export const loweredSchema = z.strictObject({ run: z.string(), trust: originClassSchema, atMs: z.int() });

/**
 * A run whose trust has fallen. Each time is a version without files, so that the record of runs beside the history cannot
 * be lost alone.
 */
export type LoweredRun = Readonly<z.infer<typeof loweredSchema>>;

/** How many runs of a user are remembered. */
export const loweredRunsMax = 1_000;

/** The run whose trust a version says has fallen; none of another version. */
export const loweredBy = ({ kind, run, trust, atMs }: Version): LoweredRun[] =>
  kind === "lowered" && run !== null ? [{ run, trust, atMs }] : [];

/** Adds one to runs, of which the last to fall comes last. The first ones go if they are too many. */
function addLowered(runs: Map<string, LoweredRun>, { run, trust, atMs }: LoweredRun): void {
  const before = runs.get(run);
  runs.delete(run);
  runs.set(run, { run, trust: lowestOf(trust, before?.trust ?? trust), atMs });
  const [oldest] = runs.keys();
  if (runs.size > loweredRunsMax && oldest !== undefined) runs.delete(oldest);
}

/** The origins of a home's present files, as its history tells them. */
export class PresentOrigins {
  readonly #files = new Map<string, FileOrigin>();
  readonly #runs = new Map<string, LoweredRun>();
  #stated = 0;
  /** The last version. */
  head: VersionHead;
  /** As it was before runs whose trust has fallen since. */
  filesHead: VersionHead;
  /** When the first version was made; `null` if it was not taken over here. */
  firstMs: number | null = null;
  /** When the last version was made; `null` if none was taken over here. */
  lastMs: number | null = null;

  constructor(
    head: VersionHead = noVersion,
    files: Iterable<readonly [string, FileOrigin]> = [],
    runs: readonly LoweredRun[] = [],
  ) {
    this.head = head;
    this.filesHead = head;
    for (const each of runs) addLowered(this.#runs, each);
    for (const [place, origin] of files) this.#put(place, origin);
  }

  get size(): number {
    return this.#files.size;
  }

  /** Whether anybody has said of any file where it comes from. Edits by hand have an origin without that. */
  get hasStated(): boolean {
    return this.#stated > 0;
  }

  entries(): IterableIterator<[string, FileOrigin]> {
    return this.#files.entries();
  }

  /** `null` if no version has left a file there. */
  of(scope: string, path: string): FileOrigin | null {
    return this.#files.get(placeKey({ scope, path })) ?? null;
  }

  /** The runs whose trust has fallen, the last one last. */
  get loweredRuns(): LoweredRun[] {
    return [...this.#runs.values()];
  }

  /** Takes a version over. `head`: the history's end after it. */
  add(version: Version, head: VersionHead): void {
    for (const each of loweredBy(version)) addLowered(this.#runs, each);
    const origins = version.files.map(({ scope, sha256, from, trust }) => {
      const source = from === undefined ? null : this.of(scope, from);
      return sha256 === null ? null : originOf(version, { sha256, trust }, source);
    });
    for (const [at, file] of version.files.entries()) this.#put(placeKey(file), origins[at] ?? null);
    this.head = head;
    if (version.kind !== "lowered") this.filesHead = head;
    if (head.seq === 1) this.firstMs = version.atMs;
    this.lastMs = version.atMs;
  }

  #put(key: string, origin: FileOrigin | null): void {
    this.#stated += Number(isStated(origin)) - Number(isStated(this.#files.get(key) ?? null));
    if (origin === null) this.#files.delete(key);
    else this.#files.set(key, origin);
  }
}

const isStated = (origin: FileOrigin | null): boolean =>
  origin !== null && (isStatedClass(origin.class) || isStatedClass(origin.trust));

/** Whether somebody has said it: edits by hand have a class without that. */
export const isStatedClass = (of: OriginClass): boolean => of !== "unstated" && of !== "owner_edit";

/** A move changes neither where the content comes from nor when it was written. */
function originOf(version: Version, file: Pick<FileOrigin, "sha256" | "trust">, source: FileOrigin | null): FileOrigin {
  const { sha256, trust } = file;
  if (source?.sha256 === sha256) return { ...source, trust };
  const { seq, atMs, kind } = version;
  return { seq, sha256, class: version.class, trust, atMs, ...(kind && { kind }) };
}

/** The lowest trust of files with each content, by its hash, wherever they are. */
export function lowestByContent(files: Iterable<Pick<VersionedFile, "sha256" | "trust">>): Map<string, OriginClass> {
  const lowest = new Map<string, OriginClass>();
  for (const { sha256, trust } of files) {
    if (sha256 !== null) lowest.set(sha256, lowestOf(lowest.get(sha256) ?? trust, trust));
  }
  return lowest;
}

/** What is known of a history. */
export interface KnownOrigins {
  readonly origins: PresentOrigins;
  /** Where the files come from that no version knows: of hand-made ones, `owner_edit`. */
  readonly unknown: OriginClass;
  /** Versions are missing, or somebody has changed them. Then nobody can say where a file comes from that differs. */
  readonly isBroken: boolean;
}

/** What a history says of itself. */
export interface HistoryState extends Omit<KnownOrigins, "origins"> {
  readonly head: VersionHead;
  /** The last version of a commit that has files, without those of runs whose trust has fallen with it. */
  readonly filesHead: VersionHead;
  /** Whether anybody has said of any file where it comes from. */
  readonly hasStated: boolean;
}

/** The history of what is held. Must not be used after the work has ended. */
export interface HeldHistory {
  readonly state: () => HistoryState;
  /** Where the present content of a file comes from; `null` if no version has left a file there. */
  readonly originOf: (scope: string, path: string) => Promise<FileOrigin | null>;
  /** The places of all files that versions have left, as `scope:path`, with their origins. */
  readonly origins: () => Promise<Iterable<readonly [string, FileOrigin]>>;
  /** The runs whose trust has fallen, the last one last. */
  readonly loweredRuns: () => Promise<LoweredRun[]>;
  /** All versions that have files, the oldest first. */
  readonly versions: () => Promise<Version[]>;
  /** Contents by their hashes, without those that are not kept. To ask for many at once takes little longer than for one. */
  readonly contentsOf: (hashes: Iterable<string>) => Promise<ReadonlyMap<string, Uint8Array>>;
}

/** What a history tells that is known as a whole. `known`: asked each time. */
export const toldBy = (
  known: () => KnownOrigins,
): Pick<HeldHistory, "state" | "originOf" | "origins" | "loweredRuns"> => ({
  state: () => {
    const { origins, unknown, isBroken } = known();
    const { head, filesHead, hasStated } = origins;
    return { head, filesHead, isBroken, unknown, hasStated: hasStated || isStatedClass(unknown) };
  },
  originOf: async (scope, path) => known().origins.of(scope, path),
  origins: async () => known().origins.entries(),
  loweredRuns: async () => known().origins.loweredRuns,
});

/** A history of one scope under another name of that scope. */
export function renamedHistory(history: HeldHistory, from: string, to: string): HeldHistory {
  const renamed = ({ files, ...version }: Version): Version => ({
    ...version,
    files: files.map(({ scope, ...file }) => Object.assign({ scope: scope === from ? to : scope }, file)),
  });
  return {
    ...history,
    originOf: (scope, path) => history.originOf(scope === to ? from : scope, path),
    origins: async () =>
      Array.from(await history.origins(), ([place, origin]) => [to + place.slice(from.length), origin]),
    versions: async () => (await history.versions()).map(renamed),
  };
}

/** Where a file's content comes from. */
export interface ContentOrigin {
  readonly class: OriginClass;
  readonly trust: OriginClass;
  /** When it was written; `null` if that is not known. */
  readonly atMs: number | null;
}

/** Where the present contents of files come from, also of those that somebody has changed by hand. */
export class ContentOrigins {
  readonly #history: HeldHistory;
  #trusts: Promise<ReadonlyMap<string, OriginClass>> | null = null;

  constructor(history: HeldHistory) {
    this.#history = history;
  }

  /**
   * As the next version of the file will say, except for an earlier content that somebody has put back: to find it would
   * take all versions. `digest`: of the present content; `null` if it was not looked at. Then only what is on record
   * counts.
   */
  async of(scope: string, path: string, digest: string | null): Promise<ContentOrigin> {
    const known = await this.#history.originOf(scope, path);
    if (known !== null && (digest === null || digest === known.sha256)) return known;
    const { unknown, isBroken } = this.#history.state();
    const trust = lowestOf(
      known?.trust ?? unknown,
      ...(known === null && digest !== null ? await this.#trustOfContent(digest) : []),
      ...(isBroken ? [unknown] : []),
    );
    return { class: known === null ? unknown : "owner_edit", trust, atMs: null };
  }

  /** The lowest trust of the present files with a content, wherever they are; none if there is no such file. */
  async #trustOfContent(sha256: string): Promise<OriginClass[]> {
    this.#trusts ??= this.#history.origins().then((all) => lowestByContent(Array.from(all, ([, origin]) => origin)));
    const trust = (await this.#trusts).get(sha256);
    return trust === undefined ? [] : [trust];
  }
}

/** The lowest trust of files that were read; `null` if there were none. */
export async function trustOfReads(history: HeldHistory, files: readonly Seen[]): Promise<OriginClass | null> {
  const read = files.filter(({ digest }) => digest !== null);
  if (read.length === 0) return null;
  const origins = new ContentOrigins(history);
  const all = await Promise.all(read.map(({ scope, path, digest }) => origins.of(scope, path, digest)));
  return lowestOf(...all.map(({ trust }) => trust));
}
