/** The files that some of the versions of a home have touched: what each was before, and what others have built on it. */
import type { Version, VersionedFile } from "../store/versions/version.ts";
import { isOfEarlier } from "../store/versions/version.ts";
import { placeKey } from "../values/change-set.ts";
import type { Place } from "../values/change-set.ts";
import type { Pieces } from "../values/turns.ts";

/** A file that the changes have touched. */
export interface TouchedFile extends Place {
  /** SHA-256 of what the last version has left; `null` if there is no file. */
  readonly present: string | null;
  /** The content before the changes, `null` if there was no file; `undefined` if none of them is the last version. */
  readonly before: string | null | undefined;
  /** Whether they have removed the file, and made it again. */
  readonly isRemade: boolean;
  /** The versions that others have built on them. */
  readonly builtOn: readonly number[];
  /** Where one of them has moved it from, as the last version; `undefined` if none has. */
  readonly from: string | undefined;
}

/** One version of one file. */
interface Link extends VersionedFile {
  readonly seq: number;
  /** Whether it is one of the changes. */
  readonly isUndone: boolean;
  /** Whether its content is one of theirs, or was built on one. */
  readonly follows: boolean;
}

/** A file and its versions, the oldest first, without those that a later one has set back. */
interface FileChain extends Place {
  readonly links: Link[];
}

/**
 * The files that the changes have touched, also under a later name. A version that sets a file back to an earlier content
 * takes away what came between: so the same undo finds nothing the next time, and an earlier origin can still be undone
 * after a later one.
 */
export function* touchedFiles(
  versions: readonly Version[],
  isUndone: (version: Version) => boolean,
): Pieces<TouchedFile[]> {
  const chains = new Map<string, FileChain>();
  for (const version of versions) {
    yield;
    const { seq, kind, files } = version;
    const isOne = !isOfEarlier(kind) && isUndone(version);
    const moved = new Set(
      files.filter(({ scope, from }) => from !== undefined && follows(chains.get(placeKey({ scope, path: from })))),
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
  const touched: TouchedFile[] = [];
  for (const chain of chains.values()) {
    yield;
    if (follows(chain) || chain.links.some((link) => link.isUndone)) touched.push(touchedFile(chain));
  }
  return touched;
}

const follows = (chain: FileChain | undefined): boolean => chain?.links.at(-1)?.follows === true;

/** Drops the links after the last one that has left this content. Returns `false` if there was none. */
function setBack(links: Link[], sha256: string | null): boolean {
  const at = links.findLastIndex((link) => link.sha256 === sha256);
  if (at < 0 && links[0]?.before !== sha256) return false;
  links.length = at + 1;
  return true;
}

function touchedFile({ scope, path, links }: FileChain): TouchedFile {
  const kept = links.findLastIndex((link) => !link.isUndone) + 1;
  const others = links.slice(0, kept);
  const free = others.findLastIndex((link) => link.isUndone || !link.follows) + 1;
  const last = links.at(-1);
  const present = last?.sha256 ?? null;
  return {
    scope,
    path,
    present,
    before: links[kept]?.before,
    isRemade: present !== null && links.slice(kept).some(({ sha256 }) => sha256 === null),
    builtOn: others.slice(free).map(({ seq }) => seq),
    from: last?.isUndone ? last.from : undefined,
  };
}
