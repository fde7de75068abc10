/** Writes a whole home beside its place, makes it durable, and then gives it its name. */
import type { DataRoot } from "../../../disk/data-root.ts";
import { ToolError } from "../../../values/tool-error.ts";
import { inParts } from "../../copying.ts";
import type { CopiedFile, HomeContent, WrittenHome } from "../../copying.ts";
import { recordKinds } from "../../held-records.ts";
import { Wal } from "../commit/wal.ts";
import { claimCreator, claimOwner } from "../home-owner.ts";
import type { Home } from "../home.ts";
import { ScopeFolders } from "../scope-folders.ts";
import { settleAll } from "../settle-all.ts";
import { StagedHome } from "./staged-home.ts";
import { writeHistory } from "./write-history.ts";

/** Returns `false` if something is there. `beforeNamed`: what must be there before the home is. */
export async function writeHome(
  home: Home,
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

async function fill(staged: StagedHome, home: Home, content: WrittenHome, isFlushed: boolean): Promise<void> {
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
const bounds = { itemsMax: 64, bytesMax: 4 * 1024 * 1024 };

/** In the order in which they were changed: listings then show the same order, as far as the disk's clock tells. */
async function writeFiles(
  { folder }: StagedHome,
  { kind }: Home,
  content: HomeContent,
  isFlushed: boolean,
): Promise<void> {
  for (const scope of content.scopes) folder.home.makeFolder(scope)[Symbol.dispose]();
  const inOrder = content.files.toSorted((a, b) => a.changedUs - b.changedUs);
  for (const part of inParts(inOrder, bounds)) {
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

async function remove(root: DataRoot, { names: [above = ""] }: Home, { folder }: StagedHome): Promise<void> {
  await folder.home.removeTree();
  using data = root.open();
  using place = data && data.openFolder(above);
  for (const { name } of place?.entries() ?? []) {
    if (place?.identityOf(name) === folder.home.identity) place.removeFolder(name);
  }
}
