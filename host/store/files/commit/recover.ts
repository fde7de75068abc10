/**
 * Handles the frames that a killed process or a crash has left. Runs under the lock, can be killed at any
 * point, and never destroys what a person has written: whatever it replaces goes to the trash first.
 */
import { isScopePath, isTrashPath } from "../../../../shared/path.ts";
import type { Place } from "../../../values/change-set.ts";
import { freeTrashPath } from "../../../values/trash-path.ts";
import { giveTurn, inTurns } from "../../../values/turns.ts";
import type { ChangedFile } from "../../plan-changes.ts";
import { digestOf } from "../../reading.ts";
import type { VersionHead } from "../../versions/version.ts";
import { hostFolder } from "../home.ts";
import type { Journal } from "../journal/journal.ts";
import { isOfOtherBoot } from "../journal/read-journal.ts";
import type { StoredFrame } from "../journal/read-journal.ts";
import type { ScopeFolders } from "../scope-folders.ts";
import { lastChangeUs, putContent, putContents, removeFile, removeStaged } from "./apply-files.ts";
import { flushTouched } from "./flushing.ts";
import { isPurge, judgeFiles } from "./judge-files.ts";
import type { JudgedFile, Judging } from "./judge-files.ts";

export interface Aside extends Pick<Judging, "own" | "folders"> {
  /** Called if a flush fails. */
  readonly distrust: () => void;
  readonly epochMs: number;
}

interface Recovery extends Aside {
  readonly journal: Journal;
  /** The machine's current boot id. */
  readonly boot: string | null;
  /** The last version. */
  readonly head: () => VersionHead;
  /** Reports to the operator what was found and done. */
  readonly note: (text: string) => void;
}

export async function recover(recovery: Recovery): Promise<void> {
  const { own, journal, boot } = recovery;
  const { frames, isDistrusted } = journal;
  const last = frames.at(-1);
  // A frame can be written and not yet flushed. If it were lost when half of it is applied, nobody could finish it.
  if (last) await journal.confirm();
  if (isDistrusted || isOfOtherBoot(frames, boot)) await rebuild(recovery);
  else if (last && !last.isApplied) await finish(recovery, last);
  removeStaged(own);
}

/**
 * The machine has not stopped since, so no file is torn, and only the last record can be unapplied. A file that matches
 * neither its old nor its new content is a person's edit, and stays.
 */
async function finish(recovery: Recovery, record: StoredFrame): Promise<void> {
  const { folders, journal, note } = recovery;
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
  journal.markApplied(await inTurns(lastChangeUs(recovery.own, folders, recorded)));
  if (record.files.length === 0) return;
  note(`recovery finished a change of ${record.files.length} files that a killed process had begun`);
}

/** Whether a file was moved to the trash and its new content is not there yet. */
function isMovedAway(folders: ScopeFolders, { files }: StoredFrame, { scope, path, before }: ChangedFile): boolean {
  const target = files.find((each) => each.scope === scope && each.path !== path && digestOf(each.after) === before);
  return target !== undefined && digestOf(folders.read(scope, target.path)) === before;
}

/**
 * The machine has stopped since, or a flush has failed. All files are judged before any is written: what recovery writes
 * changes the times that tell a person's change. An empty frame notes that, in case recovery is interrupted too.
 */
async function rebuild(recovery: Recovery): Promise<void> {
  const { own, folders, journal, note } = recovery;
  const files = judgeFiles({ own, folders, frames: journal.frames });
  const kept = files.filter(({ verdict }) => verdict === "kept");
  const pending = files.filter(({ verdict }) => verdict === "put back" || verdict === "removed");
  // Those that are to be saved are judged again if it is interrupted. Of a folder that somebody has put there, that could not be seen.
  const asTheyAre = kept.filter((file) => file.isInOtherFolder || !isSaved(file));
  if (pending.length > 0 || asTheyAre.length < kept.length) await noteJudgement(recovery, asTheyAre);
  await putBack(recovery, pending, files);
  for (const file of kept) await keep(recovery, file);
  // After a failed flush, the content that the system shows is perhaps not on the disk, so it is written again.
  const doubted = files.filter(({ verdict, after }) => journal.isDistrusted && verdict === "done" && after !== null);
  await putContents(own, folders, doubted);
  await flushTouched(recovery, files);
  journal.settle(undefined, true);
  await journal.flush();
  journal.forget(await inTurns(journal.passingLeft()));
  note(`recovery looked at ${files.length} files after a crash and restored ${pending.length + doubted.length}`);
}

const isSaved = (file: JudgedFile): file is JudgedFile & { readonly after: Buffer } =>
  file.isPerhapsTorn && file.after !== null && file.scope !== hostFolder;

/** If the file is perhaps not a person's, but torn, the recorded version goes to the trash. */
async function keep(recovery: Recovery, file: JudgedFile): Promise<void> {
  const { path } = file;
  const saved = isSaved(file) ? await saveAside(recovery, file, file.after) : null;
  recovery.note(`recovery kept ${path} as someone has changed it${saved === null ? "" : ` (recorded: ${saved})`}`);
}

async function noteJudgement({ journal, boot, head }: Recovery, files: readonly JudgedFile[]): Promise<void> {
  const kept = files.map(({ scope, path }) => ({ scope, path }));
  await journal.append({ facts: { boot, kept, files: [] }, versions: [], contents: [] }, head(), true);
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
const holdsNothing = (content: Buffer): boolean => content.every((byte) => byte === 0);

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

/**
 * Copies a file to the trash and flushes the copy before anything replaces the file. A mere move could be lost while
 * later changes are not.
 */
async function saveAside(aside: Aside, { scope, path }: Place, content: Buffer): Promise<string> {
  const { own, folders, epochMs } = aside;
  const base = path.startsWith("trash/") ? path.slice("trash/".length) : path;
  const isTaken = (each: string): boolean => folders.twinOf(scope, each) !== null || folders.read(scope, each) !== null;
  const wanted = freeTrashPath(base, epochMs, isTaken);
  const saved = isScopePath(wanted) ? wanted : freeTrashPath("recovered.md", epochMs, isTaken);
  await putContent(own, folders, { scope, path: saved, after: content });
  await flushTouched(aside, [{ scope, path: saved }]);
  return saved;
}

/**
 * Applies a committed change of whose files a person has edited some since it was planned. Copies those to the trash
 * first. Returns what was put aside, in words.
 */
export async function replaceEdited(aside: Aside, files: readonly ChangedFile[]): Promise<string[]> {
  const { own, folders } = aside;
  const notes: string[] = [];
  for (const file of files.filter(({ scope }) => scope !== hostFolder)) {
    const present = folders.read(file.scope, file.path);
    const digest = digestOf(present);
    if (present === null || digest === file.before || digest === digestOf(file.after)) continue;
    notes.push(`${file.path} was edited meanwhile and was moved to ${await saveAside(aside, file, present)}`);
  }
  removeStaged(own);
  await putContents(own, folders, files);
  return notes;
}
