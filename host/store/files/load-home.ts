/**
 * Writes a whole home beside its place, in a folder with a name that nobody looks for, makes it durable, and then gives it
 * its name. Its lock keeps out whoever removes what killed processes have left, and others once it has its name.
 */
import { randomUUID } from "node:crypto";

import type { Directory } from "../../disk/directory.ts";
import { systemCode } from "../../disk/disk-failure.ts";
import type { DataRoot } from "../../disk/pinned-directory.ts";
import { placeKey } from "../../values/change-set.ts";
import type { Place } from "../../values/change-set.ts";
import { ToolError } from "../../values/tool-error.ts";
import { inBatches } from "../home-dump.ts";
import type { HomeDump, HomePiece } from "../home-dump.ts";
import { hostScope, recordPath } from "../home.ts";
import { PresentOrigins, loweredBy } from "../versions/present-origins.ts";
import type { FileOrigin, LoweredRun } from "../versions/present-origins.ts";
import { lostTrust, noVersion, readLine } from "../versions/version.ts";
import { claimCreator, claimOwner } from "./home-owner.ts";
import { homePlaces, hostFolder } from "./home.ts";
import type { FileHome } from "./home.ts";
import { packVersions } from "./journal/format-3.ts";
import { markOf } from "./journal/history.ts";
import { flushJournalEnd } from "./journal/journal-end.ts";
import { Journal } from "./journal/journal.ts";
import { writePresent } from "./journal/present.ts";
import { placeOne } from "./journal/prune.ts";
import { journalFolder } from "./journal/segments.ts";
import { HomeFolder, ScopeFolders, openPlace, settleAll } from "./scope-folders.ts";
import { lockFile, lockHome, lockNow } from "./session-place.ts";

const prefix = ".copying.";

interface Loading {
  readonly isFlushed: boolean;
  /** Makes what must be there before the home is. */
  readonly beforeNamed: () => Promise<void>;
}

/** Returns `false` if something is there. */
export async function loadHome(home: FileHome, dump: HomeDump, { isFlushed, beforeNamed }: Loading): Promise<boolean> {
  if (isTaken(home)) return false;
  const beside = { ...home, names: [home.names[0] ?? "", `${prefix}${randomUUID()}`] };
  let isInPlace = false;
  try {
    using folder = await HomeFolder.make(beside);
    const own = folder.makeOwn();
    using _lock = await lockHome(own, home, { make: true, readOnlyWillDo: false, until: performance.now() });
    await claimOwner(own, home);
    if (dump.creator !== null) await claimCreator(own, home, dump.creator);
    for (const scope of dump.scopes) folder.home.makeFolder(scope)[Symbol.dispose]();
    await writePieces(folder, home, dump, isFlushed);
    if (isFlushed) await folder.flush();
    await beforeNamed();
    isInPlace = !isTaken(home) && (await giveName(folder, home));
    return isInPlace;
  } finally {
    // What cannot be removed now is at the next start of a host or a copy.
    if (!isInPlace) await removeStagedHomes(home.root).catch(() => {});
  }
}

const isTaken = ({ root, names }: FileHome): boolean => root.identityAt(names) !== null;

/** Gives it its name, durably. Returns `false` if something has the name. */
async function giveName(folder: HomeFolder, home: FileHome): Promise<boolean> {
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

/** What is in memory at once: at most so many versions are in a segment, and the contents that the history keeps for them. */
const bounds = { itemsMax: 4_096, bytesMax: 4 * 1024 * 1024, begins: ({ kind }: HomePiece) => kind !== "kept" };

/** The history is as it was elsewhere, in packed segments, and another one begins. Durable once the folder is flushed. */
async function writePieces(folder: HomeFolder, home: FileHome, dump: HomeDump, isFlushed: boolean): Promise<void> {
  const own = folder.makeOwn();
  using segments = own.makeFolder(journalFolder);
  const origins = new Map<string, FileOrigin>();
  const runs: LoweredRun[] = [];
  let head = noVersion;
  for await (const batch of inBatches(dump.pieces, bounds)) {
    // In their order: listings then show the same one, as far as the disk's clock tells.
    for await (const files of inBatches(batch.flatMap(fileIn), { itemsMax: 64, bytesMax: Infinity })) {
      using folders = new ScopeFolders(folder.home, home);
      await settleAll(files.map((file) => writeFile(folders, file, isFlushed)));
      if (isFlushed) await folders.flush();
    }
    for (const piece of batch) {
      const hasOrigin = piece.kind === "gone" || (piece.kind === "file" && piece.isMoved !== true);
      if (hasOrigin && piece.origin !== null) origins.set(placeKey(piece), piece.origin);
    }
    const versions = batch.flatMap((piece) => (piece.kind === "version" ? (readLine(piece.line) ?? []) : []));
    const first = versions[0]?.version.seq;
    if (first === undefined) continue;
    head = versions.at(-1)?.head ?? head;
    runs.push(...versions.flatMap(({ version }) => loweredBy(version)));
    const contents = batch.flatMap((piece) => (piece.kind === "kept" ? piece : []));
    const packed = await packVersions(home.owner, first, { versions: versions.map(({ line }) => line), contents });
    await placeOne(segments, { first, ...packed });
  }
  const isBroken = dump.unknown === lostTrust;
  using journal = Journal.make(own, home, { next: head.seq + 1, mark: markOf({ ...dump, isBroken }) });
  const aged = dump.agedMs > 0 ? { atMs: dump.agedMs, process: "", uptimeMs: 0 } : null;
  // What dropped versions have said, no line says.
  await writePresent(segments, { origins: new PresentOrigins(head, origins, runs), segment: head.seq + 1, aged });
  journal.begin(head);
  await journal.flush();
  await flushJournalEnd(own);
}

type StagedFile = Place & { readonly content: Buffer; readonly writtenUs: number; readonly bytes: number };

/** The file that a piece is on a disk; none of others. */
function fileIn(piece: HomePiece): StagedFile[] {
  if (piece.kind === "file") return [piece];
  if (piece.kind !== "record") return [];
  const path = recordPath(piece.of, piece.name);
  return [{ ...piece, scope: hostScope, path, content: Buffer.from(piece.text), writtenUs: Date.now() * 1_000 }];
}

async function writeFile(folders: ScopeFolders, file: StagedFile, isFlushed: boolean): Promise<void> {
  const { scope, path, content, writtenUs } = file;
  folders.refuseTwin(scope, path);
  const { folder, name } = folders.make(scope, path);
  folder.create(name, content, path);
  using written = folder.openFile(name, path, "flush");
  written?.setWritten(writtenUs);
  if (isFlushed) await written?.flush();
}
