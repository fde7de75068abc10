import type { OriginClass } from "../../../shared/origin.ts";
import { addLowered } from "./lowered-runs.ts";
import type { LoweredRun } from "./lowered-runs.ts";
import { noVersion } from "./version.ts";
import type { Version, VersionHead, VersionKind } from "./version.ts";

/** Where the present content of a file comes from. */
export interface FileOrigin {
  /** The version that has written it. */
  readonly seq: number;
  readonly sha256: string;
  readonly class: OriginClass;
  readonly trust: OriginClass;
  readonly atMs: number;
  readonly kind?: VersionKind | undefined;
}

/** A file's place as a key. Unambiguous, because no scope and no path has a colon. */
export const placeKey = ({ scope, path }: { readonly scope: string; readonly path: string }): string =>
  `${scope}:${path}`;

/** The scope and the path of a key. */
export function placeOfKey(key: string): { readonly scope: string; readonly path: string } {
  const colon = key.indexOf(":");
  return { scope: key.slice(0, colon), path: key.slice(colon + 1) };
}

/** The origins of a home's present files, as its history tells them. */
export class PresentOrigins {
  readonly #files = new Map<string, FileOrigin>();
  readonly #runs = new Map<string, LoweredRun>();
  #head: VersionHead;
  #filesHead: VersionHead;
  #firstMs: number | null = null;
  #lastMs: number | null = null;
  #stated = 0;

  constructor(
    head: VersionHead = noVersion,
    files: Iterable<readonly [string, FileOrigin]> = [],
    runs: readonly LoweredRun[] = [],
  ) {
    this.#head = head;
    this.#filesHead = head;
    for (const each of runs) addLowered(this.#runs, each);
    for (const [place, origin] of files) this.#put(place, origin);
  }

  get head(): VersionHead {
    return this.#head;
  }

  /** As it was before runs whose trust has fallen since. */
  get filesHead(): VersionHead {
    return this.#filesHead;
  }

  get size(): number {
    return this.#files.size;
  }

  /** When the first version was made; `null` if it was not taken over here. */
  get firstMs(): number | null {
    return this.#firstMs;
  }

  /** When the last version was made; `null` if none was taken over here. */
  get lastMs(): number | null {
    return this.#lastMs;
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
    if (version.kind === "lowered" && version.run !== null) addLowered(this.#runs, { ...version, run: version.run });
    const moved = new Map(version.files.flatMap(({ scope, from }) => this.#found(scope, from)));
    for (const file of version.files) {
      const key = placeKey(file);
      const source = file.from === undefined ? undefined : moved.get(placeKey({ scope: file.scope, path: file.from }));
      this.#put(key, file.sha256 === null ? null : originOf(version, file.sha256, file.trust, source));
    }
    this.#head = head;
    if (version.kind !== "lowered") this.#filesHead = head;
    if (head.seq === 1) this.#firstMs = version.atMs;
    this.#lastMs = version.atMs;
  }

  #put(key: string, origin: FileOrigin | null): void {
    this.#stated += Number(origin !== null && isStated(origin)) - Number(isStated(this.#files.get(key)));
    if (origin === null) this.#files.delete(key);
    else this.#files.set(key, origin);
  }

  #found(scope: string, path: string | undefined): [string, FileOrigin][] {
    const key = path === undefined ? "" : placeKey({ scope, path });
    const found = this.#files.get(key);
    return found === undefined ? [] : [[key, found]];
  }
}

const isStated = (origin: FileOrigin | undefined): boolean =>
  origin !== undefined && (isStatedClass(origin.class) || isStatedClass(origin.trust));

/** Whether somebody has said it: edits by hand have a class without that. */
export const isStatedClass = (of: OriginClass): boolean => of !== "unstated" && of !== "owner_edit";

/** A move changes neither where the content comes from nor when it was written. */
function originOf(version: Version, sha256: string, trust: OriginClass, source: FileOrigin | undefined): FileOrigin {
  if (source?.sha256 === sha256) return { ...source, trust };
  const { seq, atMs, kind } = version;
  return { seq, sha256, class: version.class, trust, atMs, ...(kind && { kind }) };
}
