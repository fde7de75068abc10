/**
 * What is to be done with the records that a killed process or a crash has left. Always under the user's lock, may be
 * killed at any point, and never destroys what a person has written.
 */
import { isScopePath } from "../../../../shared/path.ts";
import type { Directory } from "../../../disk/directory.ts";
import { freeTrashPath } from "../../../values/trash-path.ts";
import type { ChangedFile } from "../../plan-changes.ts";
import { digestOf } from "../../reading.ts";
import type { ScopeFolders } from "../scope-folders.ts";
import { putContent, removeFile, removeStaged } from "./apply-files.ts";
import { isOfOtherBoot } from "./find-records.ts";
import type { StoredRecord } from "./find-records.ts";
import { flushTrusted, retireWal } from "./retire.ts";
import type { TouchedFile } from "./retire.ts";
import type { Wal } from "./wal.ts";

export interface Recovery {
  readonly own: Directory;
  readonly folders: ScopeFolders;
  readonly wal: Wal;
  /** The present start of the machine. */
  readonly boot: string | null;
  readonly epochMs: number;
  /** Tells the operator what was found and done. */
  readonly note: (text: string) => void;
}

export async function recover(recovery: Recovery): Promise<void> {
  const { own, wal, boot } = recovery;
  const last = wal.records.at(-1);
  // A record may have been written and not yet flushed. Were it lost after half of it is applied, nobody could go on.
  if (last) await wal.confirm();
  if (wal.isDistrusted || isOfOtherBoot(wal.records, boot)) await rebuild(recovery);
  else if (last && !last.isApplied) finish(recovery, last);
  removeStaged(own);
}

/**
 * The machine has not stopped since, so nothing is torn and all records but the last were applied in full. What is
 * neither as before nor as after the last one is a person's.
 */
function finish({ own, folders, wal, note }: Recovery, record: StoredRecord): void {
  const pending = record.files.filter((file) => {
    const present = digestOf(folders.read(file.scope, file.path));
    if (present === digestOf(file.after)) return false;
    const twin = file.after && folders.twinOf(file.scope, file.path);
    if (twin) {
      note(`recovery kept ${twin}, which this disk does not tell from ${file.path}`);
      return false;
    }
    if (present === file.before || (present === null && isMovedAway(folders, record, file))) return true;
    note(`recovery kept ${file.path} as someone has edited it`);
    return false;
  });
  // Nothing is taken away before what takes its place is there.
  for (const file of pending.filter(({ after }) => after !== null)) putContent(own, folders, file);
  for (const file of pending.filter(({ after }) => after === null)) putContent(own, folders, file);
  wal.markApplied();
  note(`recovery finished a change of ${record.files.length} files that a killed process had begun`);
}

/** A file that was moved to the trash to make room, and whose new content had not come yet. */
function isMovedAway(folders: ScopeFolders, { files }: StoredRecord, { scope, path, before }: ChangedFile): boolean {
  const target = files.find((each) => each.scope === scope && each.path !== path && digestOf(each.after) === before);
  return target !== undefined && digestOf(folders.read(scope, target.path)) === before;
}

/**
 * The machine has stopped, and any file may be old, new or torn. Each becomes what the last record says of it; what is
 * none of the versions the records know may be a person's, and goes to the trash first.
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
    // After a failed flush, what the system shows may not be on the disk: it is written anew.
    if (isDone && !(wal.isDistrusted && file.after)) continue;
    if (present && !isDone && !holdsNothing(present) && !file.known.has(digest ?? "")) {
      const saved = await saveAside(recovery, file, present);
      note(`recovery moved ${file.path} to ${saved}: it is no version that was written here`);
    }
    if (file.after) await makeRoom(recovery, file);
    putContent(own, folders, file);
    restored++;
  }
  await retireWal(recovery, files);
  note(`recovery looked at ${files.length} files after a crash and restored ${restored}`);
}

/** Where a disk folds case, a person may have given the file's place to another spelling of its name. */
async function makeRoom(recovery: Recovery, { scope, path }: ChangedFile): Promise<void> {
  const { folders, note } = recovery;
  const twin = folders.twinOf(scope, path);
  const content = twin && folders.read(scope, twin);
  if (twin === null || !content) return;
  const saved = await saveAside(recovery, { scope, path: twin }, content);
  removeFile(folders, scope, twin);
  note(`recovery moved ${twin} to ${saved}: this disk does not tell it from ${path}`);
}

interface FoldedFile extends ChangedFile {
  /** Digests of every version that the records know. */
  readonly known: Set<string>;
}

/** What becomes of each file when all records are applied, one after the other. */
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

/** What a crash leaves of a file whose content was never written. */
function holdsNothing(content: Buffer): boolean {
  return content.every((byte) => byte === 0);
}

/** Copied and flushed before anything takes its place: a move might be lost while what follows it is not. */
async function saveAside(recovery: Recovery, file: TouchedFile, content: Buffer): Promise<string> {
  const { own, folders, wal, epochMs } = recovery;
  const { scope, path } = file;
  const base = path.startsWith("trash/") ? path.slice("trash/".length) : path;
  const isTaken = (each: string): boolean => folders.twinOf(scope, each) !== null || folders.read(scope, each) !== null;
  const wanted = freeTrashPath(base, epochMs, isTaken);
  const saved = isScopePath(wanted) ? wanted : freeTrashPath("recovered.md", epochMs, isTaken);
  putContent(own, folders, { scope, path: saved, after: content });
  await flushTrusted(folders, wal, [{ scope, path: saved }]);
  return saved;
}
