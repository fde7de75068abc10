/** What became of each file, version by version, and what it was before the changes that are undone. */
import { placeKey } from "../store/versions/present-origins.ts";
import { isOfEarlier } from "../store/versions/version.ts";
import type { Version, VersionedFile } from "../store/versions/version.ts";
import type { Pieces } from "../values/turns.ts";

/** One version of one file. */
export interface Link extends VersionedFile {
  readonly seq: number;
  /** Whether it is one of the changes that are undone. */
  readonly isUndone: boolean;
  /** Whether its content is one of theirs, or was built on one. */
  readonly follows: boolean;
}

/** A file and its versions, the oldest first, without those that a later one has set back. */
export interface FileChain {
  readonly scope: string;
  readonly path: string;
  readonly links: readonly Link[];
}

/** What a file was before the changes, and what has been built on them. */
export interface FileBefore {
  /** SHA-256 of what the last version has left; `null` if there is no file. */
  readonly present: string | null;
  /** The content before the changes, `null` if there was no file; `undefined` if none of them is the last version. */
  readonly before: string | null | undefined;
  /** Whether they have removed the file, and made it again. */
  readonly isRemade: boolean;
  /** The versions that others have built on them. */
  readonly builtOn: readonly number[];
}

/**
 * The chains of all files that the changes have touched, also under a later name. A version that sets a file back to an
 * earlier content takes away what came between: so the same undo finds nothing the next time, and an earlier origin can
 * still be undone after a later one.
 */
export function* fileChains(
  versions: readonly Version[],
  isUndone: (version: Version) => boolean,
): Pieces<FileChain[]> {
  const chains = new Map<string, FileChain & { readonly links: Link[] }>();
  for (const version of versions) {
    yield;
    const { seq, kind, files } = version;
    const isOne = !isOfEarlier(kind) && isUndone(version);
    const moved = new Set(
      files.filter(({ scope, from }) => from !== undefined && follows(chains.get(`${scope}:${from}`))),
    );
    for (const file of files) {
      const { scope, path, sha256, before, from } = file;
      const chain = chains.get(placeKey(file)) ?? { scope, path, links: [] };
      chains.set(placeKey(file), chain);
      if (isOfEarlier(kind) && setBack(chain.links, sha256)) continue;
      const followsOther = from === undefined ? before !== null && follows(chain) : moved.has(file);
      chain.links.push({ ...file, seq, isUndone: isOne, follows: sha256 !== null && (isOne || followsOther) });
    }
  }
  return Array.from(chains.values()).filter((chain) => follows(chain) || chain.links.some((link) => link.isUndone));
}

const follows = (chain: FileChain | undefined): boolean => chain?.links.at(-1)?.follows === true;

/** Drops the links after the last one that has left this content. Returns `false` if there was none. */
function setBack(links: Link[], sha256: string | null): boolean {
  const at = links.findLastIndex((link) => link.sha256 === sha256);
  if (at < 0 && links[0]?.before !== sha256) return false;
  links.length = at + 1;
  return true;
}

export function beforeChanges({ links }: FileChain): FileBefore {
  const kept = links.findLastIndex((link) => !link.isUndone) + 1;
  const others = links.slice(0, kept);
  const free = others.findLastIndex((link) => link.isUndone || !link.follows) + 1;
  const present = links.at(-1)?.sha256 ?? null;
  return {
    present,
    before: links[kept]?.before,
    isRemade: present !== null && links.slice(kept).some(({ sha256 }) => sha256 === null),
    builtOn: others.slice(free).map(({ seq }) => seq),
  };
}
