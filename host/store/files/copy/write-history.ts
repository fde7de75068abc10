import type { Directory } from "../../../disk/directory.ts";
import { atOnce } from "../../../values/turns.ts";
import { inParts } from "../../copying.ts";
import type { HomeContent, KeptContent } from "../../copying.ts";
import { placeKey, PresentOrigins } from "../../versions/present-origins.ts";
import { headAfter, parseLine } from "../../versions/version-line.ts";
import { noVersion } from "../../versions/version.ts";
import type { Version, VersionHead } from "../../versions/version.ts";
import type { HistoryEnd } from "../commit/wal-format.ts";
import { ContentBases } from "../history/content-bases.ts";
import type { WrittenContent } from "../history/content-bases.ts";
import { HistoryFolder } from "../history/history-folder.ts";
import { moveVersions } from "../history/move-versions.ts";
import type { MovedVersions } from "../history/move-versions.ts";
import { writePresent } from "../history/present-file.ts";
import { queuedVersions } from "../history/queued-versions.ts";

/** A version with its line, and the bytes of the contents that it has brought. */
interface WrittenVersion {
  readonly version: Version;
  readonly line: string;
  /** By place. Each content is written once, with the first version that has it. */
  readonly kept: readonly (KeptContent & { readonly key: string })[];
  readonly bytes: number;
}

/** Versions that are written together, with one flush. */
const bounds = { itemsMax: 512, bytesMax: 1024 * 1024 };

/** Writes a history as it was elsewhere, in segments as they are here. Durable once `own` is flushed. Returns its end. */
export async function writeHistory(own: Directory, content: HomeContent): Promise<HistoryEnd> {
  using history = HistoryFolder.make(own);
  if (content.isBroken) history.markLost();
  else if (content.unknown === "unstated") history.markLate();
  if (content.agedMs > 0) history.noteAged({ atMs: content.agedMs, process: "", uptimeMs: 0 });
  const versions = versionsOf(content);
  const bases = new ContentBases();
  let moved: MovedVersions | null = null;
  for (const part of inParts(versions, bounds)) {
    const written = await contentsOf(content, part);
    const queued = part.flatMap(({ version, line, kept }) =>
      atOnce(
        queuedVersions(
          [{ version, line }],
          kept.flatMap((each) => written.get(each.sha256)?.(each.key) ?? []),
          bases,
        ),
      ),
    );
    moved = await moveVersions(own, queued, { isNew: moved?.isFull ?? false, end: moved?.end ?? null });
    if (moved.isFull) bases.clear();
  }
  const first = versions[0]?.version.seq ?? 1;
  // What dropped versions have said, no line says.
  if (first > 1) await writePresent(history, new PresentOrigins(headOf(versions), content.origins));
  await history.folder.flush();
  return { head: headOf(versions), mark: content.isBroken ? "lost" : content.unknown === "unstated" ? "late" : "none" };
}

function versionsOf({ lines, kept }: HomeContent): WrittenVersion[] {
  const versions = lines.flatMap((line) => {
    const version = parseLine(line);
    return version === null ? [] : [{ version, line }];
  });
  const broughtBy = firstVersions(versions.map(({ version }) => version));
  const bySeq = new Map<number, (KeptContent & { readonly key: string })[]>();
  for (const each of kept) {
    // What only dropped versions have had goes with the oldest that is left.
    const { seq = versions[0]?.version.seq ?? 1, key = "" } = broughtBy.get(each.sha256) ?? {};
    bySeq.set(seq, [...(bySeq.get(seq) ?? []), { ...each, key }]);
  }
  return versions.map(({ version, line }) => {
    const brought = bySeq.get(version.seq) ?? [];
    return { version, line, kept: brought, bytes: brought.reduce((sum, { bytes }) => sum + bytes, line.length) };
  });
}

/** By content: the first version that has it, and for which file. */
function firstVersions(versions: readonly Version[]): Map<string, { readonly seq: number; readonly key: string }> {
  const first = new Map<string, { readonly seq: number; readonly key: string }>();
  for (const { seq, files } of versions) {
    for (const file of files) {
      if (file.sha256 !== null && !first.has(file.sha256)) first.set(file.sha256, { seq, key: placeKey(file) });
    }
  }
  return first;
}

async function contentsOf(
  content: HomeContent,
  part: readonly WrittenVersion[],
): Promise<Map<string, (key: string) => WrittenContent>> {
  const hashes = part.flatMap(({ kept }) => kept.map(({ sha256 }) => sha256));
  const found = hashes.length === 0 ? [] : await content.contentsOf(hashes);
  return new Map(
    Array.from(found, ([sha256, bytes]) => [sha256, (key) => ({ key, sha256, content: Buffer.from(bytes) })]),
  );
}

function headOf(versions: readonly WrittenVersion[]): VersionHead {
  const last = versions.at(-1);
  return last === undefined ? noVersion : headAfter(last.version, last.line);
}
