/**
 * Writes a whole home beside its place, in a folder with a name that nobody looks for, makes it durable, and then gives it
 * its name. Its lock keeps out whoever removes what killed processes have left, and others once it has its name.
 */
import { randomUUID } from "node:crypto";

import type { Directory } from "../../disk/directory.ts";
import { systemCode } from "../../disk/disk-failure.ts";
import type { DataRoot } from "../../disk/pinned-directory.ts";
import { placeKey } from "../../values/change-set.ts";
import { ToolError } from "../../values/tool-error.ts";
import { inParts, versionsIn, withContents } from "../home-dump.ts";
import type { DumpedFile, HomeDump } from "../home-dump.ts";
import { hostScope, recordPath } from "../home.ts";
import { PresentOrigins, loweredBy } from "../versions/present-origins.ts";
import { noVersion } from "../versions/version.ts";
import type { Version } from "../versions/version.ts";
import { inFlushes } from "./commit/flushing.ts";
import type { HistoryEnd } from "./commit/wal-format.ts";
import { Wal } from "./commit/wal.ts";
import { ContentBases } from "./history/content-line.ts";
import { HistoryFolder } from "./history/history-folder.ts";
import { historyEnd, writePresent } from "./history/known-history.ts";
import { moveVersions } from "./history/move-versions.ts";
import { claimCreator, claimOwner } from "./home-owner.ts";
import { homePlaces, hostFolder } from "./home.ts";
import type { FileHome } from "./home.ts";
import { HomeFolder, ScopeFolders, openPlace, settleAll } from "./scope-folders.ts";
import { lockFile, lockHome, lockNow } from "./session-place.ts";

const prefix = ".copying.";

interface Loading {
  readonly isFlushed: boolean;
  /** Makes what must be there before the home is. */
  readonly beforeNamed: () => Promise<void>;
}

/** Returns `false` if something is there. */
export async function loadHome(home: FileHome, dump: HomeDump, loading: Loading): Promise<boolean> {
  if (isTaken(home)) return false;
  let isInPlace = false;
  try {
    isInPlace = await stage(home, dump, loading);
    return isInPlace;
  } finally {
    // What cannot be removed now is at the next start of a host or a copy.
    if (!isInPlace) await removeStagedHomes(home.root).catch(() => {});
  }
}

const isTaken = ({ root, names }: FileHome): boolean => root.identityAt(names) !== null;

async function stage(home: FileHome, dump: HomeDump, { isFlushed, beforeNamed }: Loading): Promise<boolean> {
  const beside = { ...home, names: [home.names[0] ?? "", `${prefix}${randomUUID()}`] };
  using folder = await HomeFolder.make(beside);
  const own = folder.makeOwn();
  using _lock = await lockHome(own, home, { make: true, readOnlyWillDo: false, until: performance.now() });
  await claimOwner(own, home);
  if (dump.creator !== null) await claimCreator(own, home, dump.creator);
  await writeFiles({ home, folder, isFlushed }, dump);
  // Without a log, a history counts as broken.
  using wal = Wal.make(own, home);
  wal.history = await writeHistory(own, dump);
  await wal.checkpoint();
  if (isFlushed) await folder.flush();
  await beforeNamed();
  return await giveName(folder, home);
}

/** Gives it its name, durably. Returns `false` if something has the name. */
async function giveName(folder: HomeFolder, home: FileHome): Promise<boolean> {
  if (isTaken(home)) return false;
  try {
    await folder.moveAway(home.names.at(-1) ?? "");
    return true;
  } catch (error) {
    const code = error instanceof ToolError ? systemCode(error.cause) : undefined;
    if (code === "ENOTEMPTY" || code === "EEXIST") return false;
    throw error;
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

interface StagedHome {
  readonly home: FileHome;
  readonly folder: HomeFolder;
  readonly isFlushed: boolean;
}

/** Files that are written before their folders are flushed. */
const fileBounds = { itemsMax: 64, bytesMax: 4 * 1024 * 1024 };

/** In the order in which they were changed: listings then show the same order, as far as the disk's clock tells. */
async function writeFiles({ home, folder, isFlushed }: StagedHome, dump: HomeDump): Promise<void> {
  for (const scope of dump.scopes) folder.home.makeFolder(scope)[Symbol.dispose]();
  const inOrder = dump.files.toSorted((a, b) => a.changedUs - b.changedUs);
  for (const part of inParts(inOrder, fileBounds)) {
    const files = await withContents(dump, part);
    using folders = new ScopeFolders(folder.home, home);
    await settleAll(files.map((file) => writeFile(folders, file, isFlushed)));
    if (isFlushed) await folders.flush();
  }
  using folders = new ScopeFolders(folder.home, home);
  for (const { kind, name, text } of dump.records) {
    const [path, content] = [recordPath(kind, name), Buffer.from(text)];
    await writeFile(folders, { scope: hostScope, path, content, writtenUs: Date.now() * 1_000 }, isFlushed);
  }
  if (isFlushed) await folders.flush();
}

async function writeFile(
  folders: ScopeFolders,
  { scope, path, content, writtenUs }: Pick<DumpedFile, "scope" | "path" | "writtenUs"> & { readonly content: Buffer },
  isFlushed: boolean,
): Promise<void> {
  folders.refuseTwin(scope, path);
  const { folder, name } = folders.make(scope, path);
  folder.create(name, content, path);
  using written = folder.openFile(name, path, "flush");
  written?.setWritten(writtenUs);
  if (isFlushed) await written?.flush();
}

/** Versions that are written together, with one flush. */
const versionBounds = { itemsMax: 512, bytesMax: 1024 * 1024 };

/** Writes a history as it was elsewhere, in segments as they are here. Durable once `own` is flushed. Returns its end. */
async function writeHistory(own: Directory, dump: HomeDump): Promise<HistoryEnd> {
  const { unknown, isBroken, agedMs } = dump;
  using history = HistoryFolder.make(own);
  if (isBroken) history.markLost();
  else if (unknown === "unstated") history.markLate();
  if (agedMs > 0) history.noteAged({ atMs: agedMs, process: "", uptimeMs: 0 });
  const versions = versionsIn(dump);
  const bases = new ContentBases();
  for (const part of inParts(versions, versionBounds)) {
    const kept = part.flatMap((by) => by.kept.map(({ sha256 }) => ({ by, key: keyIn(by.version, sha256), sha256 })));
    const contents = await withContents(dump, kept);
    const written = part.map((by) => Object.assign({ contents: contents.filter((each) => each.by === by) }, by));
    await inFlushes(moveVersions(own, written, bases));
  }
  const runs = versions.flatMap(({ version }) => loweredBy(version));
  const origins = new PresentOrigins(versions.at(-1)?.head ?? noVersion, dump.origins, runs);
  // What dropped versions have said, no line says.
  if ((versions[0]?.version.seq ?? 1) > 1) await writePresent(history, origins);
  await history.folder.flush();
  return historyEnd({ origins, unknown, isBroken, unwritten: 0 });
}

/** The place of a content in a version; empty if it was another version's. */
function keyIn({ files }: Version, digest: string): string {
  const file = files.find(({ sha256 }) => sha256 === digest);
  return file ? placeKey(file) : "";
}
