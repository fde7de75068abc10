/**
 * Writes a whole home beside its place, in a folder with a name that nobody looks for, makes it durable, and then gives it
 * its name. Its lock keeps out whoever removes what killed processes have left, and others once it has its name.
 */
import { randomUUID } from "node:crypto";

import type { Directory } from "../../disk/directory.ts";
import { systemCode } from "../../disk/disk-failure.ts";
import type { DataRoot } from "../../disk/pinned-directory.ts";
import { ToolError } from "../../values/tool-error.ts";
import { inParts, versionsIn, withContents } from "../home-dump.ts";
import type { DumpedFile, HomeDump } from "../home-dump.ts";
import { hostScope, recordPath } from "../home.ts";
import { PresentOrigins, loweredBy } from "../versions/present-origins.ts";
import { noVersion } from "../versions/version.ts";
import { claimCreator, claimOwner } from "./home-owner.ts";
import { homePlaces, hostFolder } from "./home.ts";
import type { FileHome } from "./home.ts";
import { packVersions } from "./journal/format-3.ts";
import { markOf } from "./journal/history.ts";
import { flushJournalEnd } from "./journal/journal-end.ts";
import { Journal } from "./journal/journal.ts";
import { writePresent } from "./journal/present.ts";
import { placeOne } from "./journal/prune.ts";
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
  await writeHistory(own, home, dump);
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

/** Versions that are in one segment. */
const versionBounds = { itemsMax: 4_096, bytesMax: 4 * 1024 * 1024 };

/** Writes a history as it was elsewhere, in packed segments, and begins another one. Durable once `own` is flushed. */
async function writeHistory(own: Directory, home: FileHome, dump: HomeDump): Promise<void> {
  const versions = versionsIn(dump);
  const head = versions.at(-1)?.head ?? noVersion;
  using journal = Journal.make(own, home, { next: head.seq + 1, mark: markOf(dump) });
  for (const part of inParts(versions, versionBounds)) {
    const contents = await withContents(
      dump,
      part.flatMap(({ kept }) => kept),
    );
    const lines = part.map(({ line }) => line);
    const first = part[0]?.version.seq ?? 1;
    const packed = await packVersions(home.owner, first, { versions: lines, contents });
    await placeOne(journal.folder, { first, ...packed });
  }
  const runs = versions.flatMap(({ version }) => loweredBy(version));
  const origins = new PresentOrigins(head, dump.origins, runs);
  const aged = dump.agedMs > 0 ? { atMs: dump.agedMs, process: "", uptimeMs: 0 } : null;
  // What dropped versions have said, no line says.
  await writePresent(journal.folder, { origins, segment: head.seq + 1, aged });
  journal.begin(head);
  await journal.flush();
  await flushJournalEnd(own);
}
