/**
 * Handles the records that a killed process or a crash has left. Runs under the lock, can be killed at any
 * point, and never destroys what a person has written: whatever it replaces goes to the trash first.
 */
import { isTrashPath } from "../../../../shared/path.ts";
import { failureOfDisk, isFullDisk } from "../../../disk/disk-failure.ts";
import { giveTurn, inTurns } from "../../../values/turns.ts";
import type { ChangedFile } from "../../plan-changes.ts";
import { digestOf } from "../../reading.ts";
import { hostFolder } from "../home.ts";
import type { ScopeFolders } from "../scope-folders.ts";
import { lastChangeUs, putContents, removeFile, removeStaged } from "./apply-files.ts";
import { isOfOtherBoot } from "./find-records.ts";
import type { StoredRecord } from "./find-records.ts";
import { isPurge, judgeFiles } from "./judge-files.ts";
import type { JudgedFile } from "./judge-files.ts";
import { retireWal } from "./retire.ts";
import { saveAside } from "./save-aside.ts";
import type { Aside } from "./save-aside.ts";
import { WalUnflushable } from "./write-record.ts";

export interface Recovery extends Aside {
  /** The machine's current boot id. */
  readonly boot: string | null;
  /** Reports to the operator what was found and done. */
  readonly note: (text: string) => void;
  /** Moves the versions of the WAL to the history, before the WAL drops them. */
  readonly moveVersions: () => Promise<void>;
}

export async function recover(recovery: Recovery): Promise<void> {
  const { own, wal, boot } = recovery;
  const last = wal.records.at(-1);
  // A record can be written and not yet flushed. If it were lost when half of it is applied, nobody could finish it.
  if (last) await wal.confirm();
  if (wal.isDistrusted || isOfOtherBoot(wal.records, boot)) await rebuild(recovery);
  else if (last && !last.isApplied) await finish(recovery, last);
  removeStaged(own);
}

/**
 * The machine has not stopped since, so no file is torn, and only the last record can be unapplied. A file that matches
 * neither its old nor its new content is a person's edit, and stays.
 */
async function finish(recovery: Recovery, record: StoredRecord): Promise<void> {
  const { folders, wal, note } = recovery;
  const pending: ReplacedFile[] = [];
  const recorded = folders.usable(record.files);
  for (const file of recorded) {
    await giveTurn();
    const present = folders.read(file.scope, file.path);
    const digest = digestOf(present);
    if (digest === digestOf(file.after)) continue;
    const twin = file.after && folders.twinOf(file.scope, file.path);
    const isAsBefore = digest === file.before || (present === null && isMovedAway(folders, record, file));
    if (twin) note(`recovery kept ${twin}, which this disk does not distinguish from ${file.path}`);
    else if (isAsBefore) pending.push({ ...file, present });
    else note(`recovery kept ${file.path} as someone has edited it`);
  }
  await putBack(recovery, pending, recorded);
  wal.markApplied(await inTurns(lastChangeUs(recovery.own, folders, recorded)));
  if (record.files.length === 0) return;
  note(`recovery finished a change of ${record.files.length} files that a killed process had begun`);
}

/** Whether a file was moved to the trash and its new content is not there yet. */
function isMovedAway(folders: ScopeFolders, { files }: StoredRecord, { scope, path, before }: ChangedFile): boolean {
  const target = files.find((each) => each.scope === scope && each.path !== path && digestOf(each.after) === before);
  return target !== undefined && digestOf(folders.read(scope, target.path)) === before;
}

/**
 * The machine has stopped since, or a flush has failed. All files are judged before any is written: what recovery writes
 * changes the times that tell a person's change. An empty record notes that, in case recovery is interrupted too.
 */
async function rebuild(recovery: Recovery): Promise<void> {
  const { own, folders, wal, note } = recovery;
  const files = judgeFiles(recovery);
  const kept = files.filter(({ verdict }) => verdict === "kept");
  const pending = files.filter(({ verdict }) => verdict === "put back" || verdict === "removed");
  for (const file of kept) await keep(recovery, file);
  if (pending.length > 0) await noteJudgement(recovery, kept);
  await putBack(recovery, pending, files);
  // After a failed flush, the content that the system shows is perhaps not on the disk, so it is written again.
  const doubted = files.filter(({ verdict, after }) => wal.isDistrusted && verdict === "done" && after !== null);
  await putContents(own, folders, doubted);
  await retire(recovery, files);
  note(`recovery looked at ${files.length} files after a crash and restored ${pending.length + doubted.length}`);
}

/** On a full disk, the WAL keeps its records: what they say is done, and is looked at again at the next start. */
async function retire(recovery: Recovery, files: readonly ChangedFile[]): Promise<void> {
  try {
    await recovery.moveVersions();
  } catch (error) {
    if (!isFullDisk(error)) throw error;
    recovery.note(`the WAL is kept: there is no room for the history (${error.message})`);
    return;
  }
  await retireWal(recovery, files);
}

/** If the file is perhaps not a person's, but torn, the recorded version goes to the trash. */
async function keep(recovery: Recovery, file: JudgedFile): Promise<void> {
  const { scope, path, after, isPerhapsTorn } = file;
  const saved = isPerhapsTorn && after && scope !== hostFolder ? await saveAside(recovery, file, after) : null;
  recovery.note(`recovery kept ${path} as someone has changed it${saved === null ? "" : ` (recorded: ${saved})`}`);
}

async function noteJudgement({ wal, boot }: Recovery, kept: readonly JudgedFile[]): Promise<void> {
  // No record can be added to a WAL of an earlier version before it is retired.
  if (wal.isOutdated) return;
  try {
    await wal.append({ boot: boot, files: [], kept: kept.map(({ scope, path }) => ({ scope, path })) }, true);
  } catch (error) {
    throw error instanceof WalUnflushable ? failureOfDisk(error.cause, "finish a change") : error;
  }
}

interface ReplacedFile extends ChangedFile {
  /** As it is on the disk. */
  readonly present: Buffer | null;
}

/** Gives files the contents of their records. First copies to the trash what these would replace. */
async function putBack(
  recovery: Recovery,
  pending: readonly ReplacedFile[],
  recorded: readonly ChangedFile[],
): Promise<void> {
  const { own, folders, note } = recovery;
  const inTrash = new Set(recorded.flatMap(({ path, after }) => (isTrashPath(path) ? [digestOf(after)] : [])));
  for (const file of pending) {
    const { scope, path, present, after } = file;
    const digest = digestOf(present);
    const isKept = inTrash.has(digest) || isPurge(file, digest) || scope === hostFolder;
    if (present !== null && !holdsNothing(present) && !isKept) {
      note(`recovery moved ${path} to ${await saveAside(recovery, file, present)}, and finished its change`);
    }
    if (after !== null) await makeRoom(recovery, file);
  }
  await putContents(own, folders, pending);
}

/** Whether a file has only zero bytes: a crash leaves such a file if its content was never written. */
function holdsNothing(content: Buffer): boolean {
  return content.every((byte) => byte === 0);
}

/** On a disk that folds case, moves a person's file away whose name differs only in case. */
async function makeRoom(recovery: Recovery, { scope, path }: ChangedFile): Promise<void> {
  const { folders, note } = recovery;
  if (scope === hostFolder) return;
  const twin = folders.twinOf(scope, path);
  const content = twin && folders.read(scope, twin);
  if (twin === null || !content) return;
  const saved = await saveAside(recovery, { scope, path: twin }, content);
  removeFile(folders, scope, twin);
  note(`recovery moved ${twin} to ${saved}: this disk does not distinguish it from ${path}`);
}
