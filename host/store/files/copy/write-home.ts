/**
 * Writes a whole home beside its place, in a folder with a name that nobody looks for, makes it durable, and then gives it
 * its name. Its lock keeps out whoever removes what killed processes have left, and others once it has its name.
 */
import { randomUUID } from "node:crypto";

import type { Directory } from "../../../disk/directory.ts";
import { systemCode } from "../../../disk/disk-failure.ts";
import type { DataRoot } from "../../../disk/pinned-directory.ts";
import { ToolError } from "../../../values/tool-error.ts";
import { inTurns } from "../../../values/turns.ts";
import { inParts } from "../../copying.ts";
import type { CopiedFile, HomeContent, WrittenHome } from "../../copying.ts";
import { recordKinds } from "../../home.ts";
import { PresentOrigins, placeKey } from "../../versions/present-origins.ts";
import { noVersion, readLine } from "../../versions/version.ts";
import type { PlannedVersion, VersionHead } from "../../versions/version.ts";
import { inFlushes } from "../commit/flushing.ts";
import type { HistoryEnd } from "../commit/wal-format.ts";
import { Wal } from "../commit/wal.ts";
import { ContentBases, queuedVersions } from "../history/content-line.ts";
import { HistoryFolder } from "../history/history-folder.ts";
import { writePresent } from "../history/known-history.ts";
import { moveVersions } from "../history/move-versions.ts";
import { claimCreator, claimOwner } from "../home-owner.ts";
import { homePlaces, hostFolder, storesFolder, usersFolder } from "../home.ts";
import type { FileHome } from "../home.ts";
import { HomeFolder, ScopeFolders, openPlace, settleAll } from "../scope-folders.ts";
import { lockFile, lockHome, lockNow } from "../session-place.ts";

const prefix = ".copying.";

/** A home on its way to its place, under its lock. */
interface StagedHome {
  readonly home: FileHome;
  readonly folder: HomeFolder;
  readonly own: Directory;
  readonly isFlushed: boolean;
}

/** Returns `false` if something is there. `beforeNamed`: what must be there before the home is. */
export async function writeHome(
  home: FileHome,
  content: WrittenHome,
  { isFlushed, beforeNamed }: { readonly isFlushed: boolean; readonly beforeNamed: () => Promise<void> },
): Promise<boolean> {
  if (home.root.identityAt(home.names) !== null) return false;
  const beside = { ...home, names: [home.names[0] ?? "", `${prefix}${randomUUID()}`] };
  using folder = await HomeFolder.make(beside);
  const own = folder.makeOwn();
  using _lock = await lockHome(own, home, { make: true, readOnlyWillDo: false, until: performance.now() });
  let isInPlace = false;
  try {
    await fill({ home, folder, own, isFlushed }, content);
    await beforeNamed();
    isInPlace = await moveIntoPlace(home, folder);
    return isInPlace;
  } finally {
    // What cannot be removed now is at the next start of a host or a copy.
    if (!isInPlace) await remove(home, folder).catch(() => {});
  }
}

/** Gives it its name, durably. Returns `false` if something has the name. */
async function moveIntoPlace({ root, names }: FileHome, folder: HomeFolder): Promise<boolean> {
  if (root.identityAt(names) !== null) return false;
  try {
    await folder.moveAway(names.at(-1) ?? "");
    return true;
  } catch (error) {
    const code = error instanceof ToolError ? systemCode(error.cause) : undefined;
    if (code === "ENOTEMPTY" || code === "EEXIST") return false;
    throw error;
  }
}

async function remove({ root, names: [above] }: FileHome, { home }: HomeFolder): Promise<void> {
  await home.removeTree();
  using place = openPlace(root, above === usersFolder ? usersFolder : storesFolder);
  for (const { name } of place?.entries() ?? []) {
    if (place?.identityOf(name) === home.identity) place.removeFolder(name);
  }
}

/** Removes what processes have left that have ended while they copied. */
export async function removeStagedHomes(root: DataRoot): Promise<void> {
  for (const place of homePlaces) {
    using above = openPlace(root, place);
    const left = above?.entries().filter(({ name, kind }) => kind === "folder" && name.startsWith(prefix)) ?? [];
    for (const { name } of left) if (above !== null) await removeStaged(above, name);
  }
}

async function removeStaged(above: Directory, name: string): Promise<void> {
  using folder = above.openFolder(name);
  using own = folder && folder.openFolder(hostFolder);
  using lock = own && lockNow(own);
  // Whoever has the lock is at work.
  if (folder === null || (lock === null && own !== null && own.measure(lockFile) !== null)) return;
  await folder.removeTree();
  above.removeFolder(name);
}

async function fill(staged: StagedHome, content: WrittenHome): Promise<void> {
  const { home, own, folder, isFlushed } = staged;
  await claimOwner(own, home);
  if (content.creator !== null) await claimCreator(own, home, content.creator);
  await writeFiles(staged, content);
  const history = await writeHistory(own, content);
  await writeRecords(staged, content);
  // Without a log, a history counts as broken.
  using wal = Wal.make(own, home);
  wal.history = history;
  await wal.checkpoint();
  if (isFlushed) await folder.flush();
}

/** Files that are written before their folders are flushed. */
const fileBounds = { itemsMax: 64, bytesMax: 4 * 1024 * 1024 };

/** In the order in which they were changed: listings then show the same order, as far as the disk's clock tells. */
async function writeFiles({ home, folder, isFlushed }: StagedHome, content: HomeContent): Promise<void> {
  for (const scope of content.scopes) folder.home.makeFolder(scope)[Symbol.dispose]();
  const inOrder = content.files.toSorted((a, b) => a.changedUs - b.changedUs);
  for (const part of inParts(inOrder, fileBounds)) {
    const contents = await content.contentsOf(part.map(({ sha256 }) => sha256));
    using folders = new ScopeFolders(folder.home, home);
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

async function writeRecords({ own, isFlushed }: StagedHome, { records }: HomeContent): Promise<void> {
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

async function flushFile(folder: Directory, name: string): Promise<void> {
  using file = folder.openFile(name, name, "flush");
  await file?.flush();
}

/** A version with the contents that it has brought, which are written with it. */
interface WrittenVersion extends PlannedVersion {
  /** By place. */
  readonly kept: { readonly key: string; readonly sha256: string }[];
  /** Of the line and the contents. */
  bytes: number;
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
  for (const part of inParts(versions, versionBounds)) {
    const hashes = part.flatMap(({ kept }) => kept.map(({ sha256 }) => sha256));
    const found = hashes.length === 0 ? null : await content.contentsOf(hashes);
    const withContents = part.map(({ version, line, head, kept }) => {
      const contents = kept.flatMap(({ key, sha256 }) => {
        const bytes = found?.get(sha256);
        return bytes === undefined ? [] : [{ key, sha256, content: Buffer.from(bytes) }];
      });
      return { version, line, head, contents };
    });
    await inFlushes(moveVersions(own, await inTurns(queuedVersions(withContents, bases)), bases));
  }
  const first = versions[0]?.version.seq ?? 1;
  // What dropped versions have said, no line says.
  if (first > 1) await writePresent(history, new PresentOrigins(headOf(versions), content.origins));
  await history.folder.flush();
  return { head: headOf(versions), mark: content.isBroken ? "lost" : content.unknown === "unstated" ? "late" : "none" };
}

function versionsOf({ lines, kept }: HomeContent): WrittenVersion[] {
  const versions = lines.flatMap((line): WrittenVersion[] => {
    const read = readLine(line);
    return read === null ? [] : [{ ...read, kept: [], bytes: line.length }];
  });
  // Each content is written once, with the first version that has it.
  const broughtBy = new Map<string, { readonly by: WrittenVersion; readonly key: string }>();
  for (const by of versions) {
    for (const file of by.version.files) {
      const { sha256 } = file;
      if (sha256 !== null && !broughtBy.has(sha256)) broughtBy.set(sha256, { by, key: placeKey(file) });
    }
  }
  for (const { sha256, bytes } of kept) {
    // What only dropped versions have had goes with the oldest that is left.
    const { by = versions[0], key = "" } = broughtBy.get(sha256) ?? {};
    by?.kept.push({ key, sha256 });
    if (by !== undefined) by.bytes += bytes;
  }
  return versions;
}

const headOf = (versions: readonly WrittenVersion[]): VersionHead => versions.at(-1)?.head ?? noVersion;
