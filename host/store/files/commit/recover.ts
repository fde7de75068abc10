/**
 * Handles the records that a killed process or a crash has left. Runs under the lock, can be killed at any
 * point, and never destroys what a person has written.
 */
import type { ChangedFile } from "../../plan-changes.ts";
import { digestOf } from "../../reading.ts";
import type { ScopeFolders } from "../scope-folders.ts";
import { putContent, removeFile, removeStaged } from "./apply-files.ts";
import { isOfOtherBoot } from "./find-records.ts";
import type { StoredRecord } from "./find-records.ts";
import { retireWal } from "./retire.ts";
import { saveAside } from "./save-aside.ts";
import type { Aside } from "./save-aside.ts";

export interface Recovery extends Aside {
  /** The machine's current boot id. */
  readonly boot: string | null;
  /** Reports to the operator what was found and done. */
  readonly note: (text: string) => void;
}

export async function recover(recovery: Recovery): Promise<void> {
  const { own, wal, boot } = recovery;
  const last = wal.records.at(-1);
  // A record can be written and not yet flushed. If it were lost when half of it is applied, nobody could finish it.
  if (last) await wal.confirm();
  if (wal.isDistrusted || isOfOtherBoot(wal.records, boot)) await rebuild(recovery);
  else if (last && !last.isApplied) finish(recovery, last);
  removeStaged(own);
}

/**
 * The machine has not stopped since, so no file is torn, and only the last record can be unapplied. A file that matches
 * neither its old nor its new content is a person's edit, and stays.
 */
function finish({ own, folders, wal, note }: Recovery, record: StoredRecord): void {
  const pending = record.files.filter((file) => {
    const present = digestOf(folders.read(file.scope, file.path));
    if (present === digestOf(file.after)) return false;
    const twin = file.after && folders.twinOf(file.scope, file.path);
    if (twin) {
      note(`recovery kept ${twin}, which this disk does not distinguish from ${file.path}`);
      return false;
    }
    if (present === file.before || (present === null && isMovedAway(folders, record, file))) return true;
    note(`recovery kept ${file.path} as someone has edited it`);
    return false;
  });
  // All new contents come first, so that nothing is removed before its replacement is there.
  for (const file of pending.filter(({ after }) => after !== null)) putContent(own, folders, file);
  for (const file of pending.filter(({ after }) => after === null)) putContent(own, folders, file);
  wal.markApplied();
  note(`recovery finished a change of ${record.files.length} files that a killed process had begun`);
}

/** Whether a file was moved to the trash and its new content is not there yet. */
function isMovedAway(folders: ScopeFolders, { files }: StoredRecord, { scope, path, before }: ChangedFile): boolean {
  const target = files.find((each) => each.scope === scope && each.path !== path && digestOf(each.after) === before);
  return target !== undefined && digestOf(folders.read(scope, target.path)) === before;
}

/**
 * The machine has stopped, so any file can be old, new or torn. Each gets the content of its last record. A file that
 * matches no recorded version can be a person's, so it is copied to the trash first.
 */
async function rebuild(recovery: Recovery): Promise<void> {
  const { own, folders, wal, note } = recovery;
  const files = foldRecords(wal.records);
  let restored = 0;
  const inOrder = [...files.filter(({ after }) => after !== null), ...files.filter(({ after }) => after === null)];
  for (const file of inOrder) {
    const present = folders.read(file.scope, file.path);
    const digest = digestOf(present);
    const isDone = digest === digestOf(file.after);
    // After a failed flush, the file's content is perhaps not on the disk, so it is written again.
    if (isDone && !(wal.isDistrusted && file.after)) continue;
    if (present && !isDone && !holdsNothing(present) && !file.known.has(digest ?? "")) {
      const saved = await saveAside(recovery, file, present);
      note(`recovery moved ${file.path} to ${saved}: it is not a version that was written here`);
    }
    if (file.after) await makeRoom(recovery, file);
    putContent(own, folders, file);
    restored++;
  }
  await retireWal(recovery, files);
  note(`recovery looked at ${files.length} files after a crash and restored ${restored}`);
}

/** On a disk that folds case, moves a person's file away whose name differs only in case. */
async function makeRoom(recovery: Recovery, { scope, path }: ChangedFile): Promise<void> {
  const { folders, note } = recovery;
  const twin = folders.twinOf(scope, path);
  const content = twin && folders.read(scope, twin);
  if (twin === null || !content) return;
  const saved = await saveAside(recovery, { scope, path: twin }, content);
  removeFile(folders, scope, twin);
  note(`recovery moved ${twin} to ${saved}: this disk does not distinguish it from ${path}`);
}

interface FoldedFile extends ChangedFile {
  /** Digests of all versions in the records. */
  readonly known: Set<string>;
}

/** Each file's state after all records are applied in order. */
function foldRecords(records: readonly StoredRecord[]): FoldedFile[] {
  const folded = new Map<string, FoldedFile>();
  for (const file of records.flatMap(({ files }) => files)) {
    const key = `${file.scope}:${file.path}`;
    const known = folded.get(key)?.known ?? new Set<string>();
    for (const each of [file.before, digestOf(file.after)]) if (each !== null) known.add(each);
    folded.set(key, { ...file, known });
  }
  return [...folded.values()];
}

/** Whether a file has only zero bytes: a crash leaves such a file if its content was never written. */
function holdsNothing(content: Buffer): boolean {
  return content.every((byte) => byte === 0);
}
