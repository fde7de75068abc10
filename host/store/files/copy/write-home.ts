/** Writes a whole home beside its place, makes it durable, and then gives it its name. */
import type { DataRoot } from "../../../disk/data-root.ts";
import type { Directory } from "../../../disk/directory.ts";
import { ToolError } from "../../../values/tool-error.ts";
import { atOnce } from "../../../values/turns.ts";
import { inParts } from "../../copying.ts";
import type { CopiedFile, HomeContent, WrittenHome, KeptContent } from "../../copying.ts";
import { recordKinds } from "../../home.ts";
import { placeKey, PresentOrigins } from "../../versions/present-origins.ts";
import { headAfter, parseLine } from "../../versions/version-line.ts";
import { noVersion } from "../../versions/version.ts";
import type { Version, VersionHead } from "../../versions/version.ts";
import type { HistoryEnd } from "../commit/wal-format.ts";
import { Wal } from "../commit/wal.ts";
import { ContentBases } from "../history/content-bases.ts";
import type { WrittenContent } from "../history/content-bases.ts";
import { HistoryFolder } from "../history/history-folder.ts";
import { moveVersions } from "../history/move-versions.ts";
import type { MovedVersions } from "../history/move-versions.ts";
import { writePresent } from "../history/present-file.ts";
import { queuedVersions } from "../history/queued-versions.ts";
import { claimCreator, claimOwner } from "../home-owner.ts";
import type { FileHome } from "../home.ts";
import { ScopeFolders } from "../scope-folders.ts";
import { settleAll } from "../settle-all.ts";
import { StagedHome } from "./staged-home.ts";

/** Returns `false` if something is there. `beforeNamed`: what must be there before the home is. */
export async function writeHome(
  home: FileHome,
  content: WrittenHome,
  { isFlushed, beforeNamed }: { readonly isFlushed: boolean; readonly beforeNamed: () => Promise<void> },
): Promise<boolean> {
  if (home.root.identityAt(home.names) !== null) return false;
  using staged = await StagedHome.make(home);
  let isInPlace = false;
  try {
    await fill(staged, home, content, isFlushed);
    await beforeNamed();
    isInPlace = await staged.moveIntoPlace();
    return isInPlace;
  } finally {
    // What cannot be removed now is at the next start of a host or a copy.
    if (!isInPlace) await remove(home.root, home, staged).catch(() => {});
  }
}

async function fill(staged: StagedHome, home: FileHome, content: WrittenHome, isFlushed: boolean): Promise<void> {
  const { own, folder } = staged;
  await claimOwner(own, home);
  if (content.creator !== null) await claimCreator(own, home, content.creator);
  await writeFiles(staged, home, content, isFlushed);
  const history = await writeHistory(own, content);
  await writeRecords(staged, content, isFlushed);
  // Without a log, a history counts as broken.
  using wal = Wal.make(own, home);
  wal.history = history;
  await wal.checkpoint();
  if (isFlushed) await folder.flush();
}

/** Files that are written before their folders are flushed. */
const fileBounds = { itemsMax: 64, bytesMax: 4 * 1024 * 1024 };

/** In the order in which they were changed: listings then show the same order, as far as the disk's clock tells. */
async function writeFiles(
  { folder }: StagedHome,
  { kind }: FileHome,
  content: HomeContent,
  isFlushed: boolean,
): Promise<void> {
  for (const scope of content.scopes) folder.home.makeFolder(scope)[Symbol.dispose]();
  const inOrder = content.files.toSorted((a, b) => a.changedUs - b.changedUs);
  for (const part of inParts(inOrder, fileBounds)) {
    const contents = await content.contentsOf(part.map(({ sha256 }) => sha256));
    using folders = new ScopeFolders(folder.home, { kind, folds: new Map() });
    await settleAll(part.map((file) => writeFile(folders, file, { content: contents.get(file.sha256), isFlushed })));
    if (isFlushed) await folders.flush();
  }
}

async function writeFile(
  folders: ScopeFolders,
  { scope, path, writtenUs }: CopiedFile,
  { content, isFlushed }: { readonly content: Uint8Array | undefined; readonly isFlushed: boolean },
): Promise<void> {
  if (content === undefined) throw new ToolError("STORAGE_FAILED", `Cannot copy "${path}": its content is missing`);
  folders.refuseTwin(scope, path);
  const { folder, name } = folders.make(scope, path);
  folder.create(name, content, path);
  using file = folder.openFile(name, path, "flush");
  file?.setWritten(writtenUs);
  if (isFlushed) await file?.flush();
}

async function writeRecords({ own }: StagedHome, { records }: HomeContent, isFlushed: boolean): Promise<void> {
  for (const kind of recordKinds) {
    const ofKind = records.filter((each) => each.kind === kind);
    if (ofKind.length === 0) continue;
    using folder = own.makeFolder(kind);
    for (const { name, text } of ofKind) {
      folder.create(`${name}.json`, Buffer.from(text), kind);
      if (isFlushed) await flushFile(folder, `${name}.json`);
    }
    if (isFlushed) await folder.flush();
  }
}

async function flushFile(folder: StagedHome["own"], name: string): Promise<void> {
  using file = folder.openFile(name, name, "flush");
  await file?.flush();
}

async function remove(root: DataRoot, { names: [above = ""] }: FileHome, { folder }: StagedHome): Promise<void> {
  await folder.home.removeTree();
  using data = root.open();
  using place = data && data.openFolder(above);
  for (const { name } of place?.entries() ?? []) {
    if (place?.identityOf(name) === folder.home.identity) place.removeFolder(name);
  }
}

/** A version with its line, and the bytes of the contents that it has brought. */
interface WrittenVersion {
  readonly version: Version;
  readonly line: string;
  /** By place. Each content is written once, with the first version that has it. */
  readonly kept: readonly (KeptContent & { readonly key: string })[];
  readonly bytes: number;
}

/** Versions that are written together, with one flush. */
const versionBounds = { itemsMax: 512, bytesMax: 1024 * 1024 };

/** Writes a history as it was elsewhere, in segments as they are here. Durable once `own` is flushed. Returns its end. */
async function writeHistory(own: Directory, content: HomeContent): Promise<HistoryEnd> {
  using history = HistoryFolder.make(own);
  if (content.isBroken) history.markLost();
  else if (content.unknown === "unstated") history.markLate();
  if (content.agedMs > 0) history.noteAged({ atMs: content.agedMs, process: "", uptimeMs: 0 });
  const versions = versionsOf(content);
  const bases = new ContentBases();
  let moved: MovedVersions | null = null;
  for (const part of inParts(versions, versionBounds)) {
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
