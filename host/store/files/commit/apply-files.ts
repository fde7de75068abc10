/** Applies records to files by renames: readers find a whole old file or a whole new one. */
import type { Directory } from "../../../disk/directory.ts";
import { systemCode } from "../../../disk/disk-failure.ts";
import { forNewFileIn } from "../../../disk/folder-handle.ts";
import type { Permissions } from "../../../disk/folder-handle.ts";
import { createOverLeftover } from "../../../disk/replace-file.ts";
import type { NewFile } from "../../../disk/replace-file.ts";
import { placeKey } from "../../../values/change-set.ts";
import type { Place } from "../../../values/change-set.ts";
import { ToolError } from "../../../values/tool-error.ts";
import { giveTurn } from "../../../values/turns.ts";
import type { Pieces } from "../../../values/turns.ts";
import type { ChangedFile, PlannedFile } from "../../plan-changes.ts";
import { digestOf } from "../../reading.ts";
import { hostFolder } from "../home.ts";
import type { FileInFolder, ScopeFolders } from "../scope-folders.ts";

/** A file that exists for a moment, only to change its folder's time. */
const witness = "staged-witness";

const stagedName = (at: number): string => `staged-${at}`;

/** Whether a file in the host's own folder is left over from staging. */
export const isStagedName = (name: string): boolean => name.startsWith("staged-");

/** A plan whose new contents are all written to staged files. They are not flushed. */
export interface StagedPlan {
  readonly own: Directory;
  readonly folders: ScopeFolders;
  readonly files: readonly PlannedFile[];
  readonly staged: readonly { readonly name: string; readonly file: PlannedFile }[];
  /** When the last of them was written, by the file system's clock. Unknown if they will be copied to another one. */
  readonly stagedUs: number | undefined;
}

/** Writes new contents in full and makes the folders that they go to. A full disk fails here: staged files stay then. */
export function* stageFiles(own: Directory, folders: ScopeFolders, files: readonly PlannedFile[]): Pieces<StagedPlan> {
  const staged: { readonly name: string; readonly file: PlannedFile }[] = [];
  const disks = new Set([own.disk]);
  const leaving = new Map(files.filter(({ after }) => after === null).map((file) => [file.before, file]));
  let at = 0;
  for (const file of files.filter((each) => !each.isSame && each.after !== null)) {
    yield;
    const place = folders.make(file.scope, file.path);
    disks.add(place.folder.disk);
    if (file.from !== null || file.after === null) continue;
    const like =
      permissionsAt(place) ??
      permissionsOf(folders, leaving.get(file.sha256)) ??
      forNewFileIn(place.folder.permissions);
    at = stageContent(own, at, { content: file.after, shown: file.path, like }) + 1;
    staged.push({ name: stagedName(at - 1), file });
  }
  const last = disks.size === 1 ? staged.at(-1) : undefined;
  return { own, folders, files, staged, stagedUs: last && own.measure(last.name)?.writtenUs };
}

/**
 * First moves files to or from the trash, then puts new contents in place, then removes files. Stops at a file that
 * somebody has written since the plan: others work between two files. Returns the files that are left then.
 */
export function* applyStaged(
  { own, folders, files, staged }: StagedPlan,
  isFlushed: boolean,
): Pieces<readonly PlannedFile[]> {
  const left = new Set(files.filter(({ isSame }) => !isSame));
  const byPlace = new Map(files.map((file) => [placeKey(file), file]));
  for (const file of files) {
    const { scope, path, from } = file;
    if (from === null) continue;
    yield;
    const source = byPlace.get(placeKey({ scope, path: from }));
    const isGone = folders.stampOf(scope, from) === null;
    if (isGone || isWritten(folders, file) || (source && isWritten(folders, source))) return [...left];
    moveFile(folders.make(scope, from), folders.make(scope, path));
    left.delete(file);
    if (source?.after === null) left.delete(source);
  }
  for (const { name, file } of staged) {
    yield;
    if (isWritten(folders, file)) return [...left];
    // Without a flushed journal, the staged file is the only copy: a plain rename makes ext4 write it to the disk at once.
    const put = file.before !== null && isFlushed ? replaceFile : moveFile;
    put({ folder: own, name }, folders.make(file.scope, file.path));
    left.delete(file);
  }
  for (const file of left) {
    yield;
    if (isWritten(folders, file)) return [...left];
    removeFile(folders, file.scope, file.path);
    left.delete(file);
  }
  return [];
}

/**
 * Gives one file its content without a plan: for recovery. The content is durable before it gets the file's name, so no
 * crash shows a part of it.
 */
export async function putContent(
  own: Directory,
  folders: ScopeFolders,
  file: { readonly scope: string; readonly path: string; readonly after: Buffer | null },
): Promise<void> {
  if (file.after === null) return removeFile(folders, file.scope, file.path);
  folders.refuseTwin(file.scope, file.path);
  const target = folders.make(file.scope, file.path);
  const like = permissionsAt(target) ?? forNewFileIn(target.folder.permissions);
  const name = stagedName(stageContent(own, 0, { content: file.after, shown: file.path, like }));
  {
    using staged = own.openFile(name, file.path, "flush");
    await staged?.flush();
  }
  moveFile({ folder: own, name }, target);
}

/** Gives files their contents. All new contents come first, so that nothing is removed before its replacement is there. */
export async function putContents(own: Directory, folders: ScopeFolders, files: readonly ChangedFile[]): Promise<void> {
  for (const file of files.toSorted((a, b) => Number(a.after === null) - Number(b.after === null))) {
    await giveTurn();
    await putContent(own, folders, file);
  }
}

/**
 * When applied files were last changed, or the folders that they are in. Sees to it that the host's own folder is not
 * older: its time then shows that the disk has all these names (`judge-files.ts`).
 */
export function* lastChangeUs(own: Directory, folders: ScopeFolders, files: readonly Place[]): Pieces<number> {
  const changed = new Set<Directory>();
  let lastUs = 0;
  for (const { scope, path } of files) {
    yield;
    const place = folders.find(scope, path);
    if (place === null) continue;
    lastUs = Math.max(lastUs, place.folder.measure(place.name)?.changedUs ?? 0);
    changed.add(place.folder);
  }
  for (const folder of changed) lastUs = Math.max(lastUs, folder.namesChangedUs);
  if (own.namesChangedUs < lastUs) {
    createOverLeftover(own, witness, { content: new Uint8Array(), shown: witness });
    own.remove(witness);
  }
  return lastUs;
}

/** Removes the staged files that a killed process has left. */
export function removeStaged(own: Directory): void {
  for (const { name, kind } of own.entries()) if (isStagedName(name) && kind !== "folder") own.remove(name);
}

/** As `removeStaged`, but ignores errors: the caller reports another failure. The next holder removes what stays. */
export function removeStagedQuietly(own: Directory): void {
  try {
    removeStaged(own);
  } catch {
    // See above.
  }
}

/**
 * Writes a content under the first usable staged name from `at` on, and returns its number. Replaces a leftover file.
 * Skips a folder: it is a person's, and a process was killed after it had exchanged the folder for its new file.
 */
function stageContent(own: Directory, at: number, { content, shown, like }: NewFile): number {
  for (let free = at; ; free++) {
    const name = stagedName(free);
    const create = (): void => own.create(name, content, shown, like);
    if (unlessRefused("EEXIST", create)) return free;
    if (!unlessRefused("EISDIR", () => own.remove(name))) continue;
    create();
    return free;
  }
}

/** Returns `false` if the system refuses with this code. */
function unlessRefused(code: string, work: () => void): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if (!(error instanceof ToolError) || systemCode(error.cause) !== code) throw error;
    return false;
  }
}

/** Whoever could use a file can use the one that replaces it. */
const permissionsAt = ({ folder, name }: FileInFolder): Permissions | null => folder.permissionsOf(name);

/** And the one that gets its content, as when a plugin takes an entry out of the trash. */
function permissionsOf(folders: ScopeFolders, leaving: PlannedFile | undefined): Permissions | null {
  const place = leaving ? folders.find(leaving.scope, leaving.path) : null;
  return place && permissionsAt(place);
}

export function removeFile(folders: ScopeFolders, scope: string, path: string): void {
  const place = folders.find(scope, path);
  if (place === null) return;
  const { folder, name } = place;
  // Whatever is in a record's place, nobody needs it.
  const isThere = scope === hostFolder ? folder.measure(name) !== null : folder.sizeOf(name, path) !== null;
  if (isThere) folder.remove(name);
}

/** No guest can name it, and no listing shows it. */
const stagedHere = ".memcell-staged";

/**
 * Moves a file by rename. If source and target are on different file systems, copies the content beside the target and
 * renames the copy: readers still find whole files.
 */
function moveFile(source: FileInFolder, target: FileInFolder): void {
  const isMoved = unlessRefused("EXDEV", () => source.folder.rename(source.name, target.folder, target.name));
  if (!isMoved) copyFile(source, target);
}

/**
 * As `moveFile`, but replaces a file. Exchanges the two and removes the old one: with a rename over it, ext4 would
 * write the new file out at once, which the journal makes needless (`host/store/RATIONALE.md`).
 */
function replaceFile(source: FileInFolder, target: FileInFolder): void {
  const exchange = (): boolean => source.folder.exchange(source.name, target.folder, target.name);
  if (exchange()) {
    if (unlessRefused("EISDIR", () => source.folder.remove(source.name))) return;
    // A person has put a folder there meanwhile, which a rename refuses.
    exchange();
  }
  moveFile(source, target);
}

function copyFile(source: FileInFolder, { folder, name }: FileInFolder): void {
  const content = source.folder.read(source.name, name);
  if (content === null) throw new ToolError("STORAGE_FAILED", `Cannot move "${name}": it has gone meanwhile`);
  createOverLeftover(folder, stagedHere, { content, shown: name, like: source.folder.permissionsOf(source.name) });
  folder.rename(stagedHere, folder, name);
  source.folder.remove(source.name);
}

/**
 * Whether someone has changed a file since the change was planned and recorded: people edit without a lock. `false` if one
 * cannot be read: applying it reports that.
 */
export function* isEdited(folders: ScopeFolders, planned: readonly PlannedFile[]): Pieces<boolean> {
  try {
    for (const file of planned) {
      yield;
      if (differs(folders, file, file.stamp === null ? null : folders.stampOf(file.scope, file.path))) return true;
    }
  } catch {
    // See above.
  }
  return false;
}

/** The same of one file, just before the change replaces it. A file that is gone has nothing to lose. */
function isWritten(folders: ScopeFolders, file: PlannedFile): boolean {
  try {
    const present = folders.stampOf(file.scope, file.path);
    return present !== null && differs(folders, file, present);
  } catch {
    return false;
  }
}

function differs(
  folders: ScopeFolders,
  { scope, path, before, stamp }: PlannedFile,
  present: ReturnType<ScopeFolders["stampOf"]>,
): boolean {
  if (stamp !== null && present?.text === stamp) return false;
  return digestOf(folders.read(scope, path)) !== before;
}

/** The files of a cancelled plan, each with its present content as the new one. */
export function asPresent(folders: ScopeFolders, planned: readonly PlannedFile[]): ChangedFile[] {
  return planned.map(({ scope, path, after }) => ({
    scope,
    path,
    before: digestOf(after),
    after: folders.read(scope, path),
  }));
}
