/**
 * Decides what becomes of the files that frames of a journal name when the machine has stopped since, or a flush has failed. Then
 * any file can be old, new or torn, and a person can have changed it before, or since.
 *
 * What the disk's times show comes first. A host writes a file's new content, then its record, then puts the file in
 * place, then notes the time. A person's change is later than that. `host/store/RATIONALE.md` explains why.
 */
import { isTrashPath } from "../../../../shared/path.ts";
import type { Directory, Measured } from "../../../disk/directory.ts";
import { placeKey } from "../../../values/change-set.ts";
import { grantsPath, grantsScope } from "../../home.ts";
import type { ChangedFile } from "../../plan-changes.ts";
import { digestOf } from "../../reading.ts";
import type { RecordedFile, StoredFrame } from "../journal/read-journal.ts";
import type { ScopeFolders } from "../scope-folders.ts";

/**
 * - `done`: the file is as its last record says.
 * - `kept`: a person has changed or removed it since, so it stays as it is.
 * - `put back`: it gets the content of its last record.
 * - `removed`: its last record has removed it.
 */
export type Verdict = "done" | "kept" | "put back" | "removed";

export interface JudgedFile extends ChangedFile {
  readonly verdict: Verdict;
  readonly present: Buffer | null;
  readonly isInOtherFolder: boolean;
  /** Someone has changed the file's name or permissions since, and its content does not show who wrote it. */
  readonly isPerhapsTorn: boolean;
}

export interface Judging {
  /** The host's own folder. */
  readonly own: Directory;
  readonly folders: ScopeFolders;
  /** Those that are not settled. */
  readonly frames: readonly StoredFrame[];
}

/** A file as its last record left it, with what that shows of the disk's times. */
interface LastRecordedFile extends RecordedFile, Pick<StoredFrame, "appliedUs" | "stagedUs"> {
  /** An interrupted recovery has found that no person had removed it. */
  readonly isJudged: boolean;
}

export function judgeFiles({ own, folders, frames }: Judging): JudgedFile[] {
  const known = new Set(frames.flatMap(({ files }) => files.flatMap(({ before, after }) => [before, digestOf(after)])));
  const files = lastOfEach(frames);
  const editedUs = grantsEditedUs(own, files);
  return folders.usable(files).map((file) => {
    const { scope, path, before, after, way } = file;
    const present = folders.read(scope, path);
    const digest = digestOf(present);
    const place = folders.find(scope, path);
    const measured = place && place.folder.measure(place.name);
    const hasNames = hasAllNames(file, own, editedUs);
    const isInOtherFolder = hasNames && isOtherWay(way, folders.inodesOnWay(scope, path));
    // If someone has removed the file, its folder, or the deepest one that is there, is younger.
    const isRemoved = hasNames && folders.nearest(scope, path).namesChangedUs > (file.appliedUs ?? 0);
    const isPersons = isInOtherFolder || (measured === null ? isRemoved : isChanged(file, measured));
    const isPerhapsTorn = measured !== null && !known.has(digest) && !isWrittenSince(file, measured);
    const verdict = digest === digestOf(after) ? "done" : isPersons ? "kept" : restoring(file, digest);
    return { scope, path, before, after, present, isInOtherFolder, isPerhapsTorn, verdict };
  });
}

function restoring(file: LastRecordedFile, digest: string | null): Verdict {
  if (file.after !== null) return "put back";
  return isTrashPath(file.path) && !isPurge(file, digest) ? "kept" : "removed";
}

/** Each file's state after all records were applied in order, without those that an interrupted recovery has kept. */
function lastOfEach(frames: readonly StoredFrame[]): LastRecordedFile[] {
  const files = new Map<string, LastRecordedFile>();
  for (const { appliedUs, stagedUs, kept, ...frame } of frames) {
    for (const file of frame.files) files.set(placeKey(file), { ...file, appliedUs, stagedUs, isJudged: false });
    if (kept === undefined) continue;
    for (const each of kept) files.delete(placeKey(each));
    for (const [key, file] of files) files.set(key, { ...file, isJudged: true });
  }
  return [...files.values()];
}

/**
 * Whether someone has changed the file since its record. A file that a crash has torn got its name when the record was
 * applied, and its content before the record was written.
 */
function isChanged(file: LastRecordedFile, measured: Measured): boolean {
  const { appliedUs } = file;
  return appliedUs === null ? isWrittenSince(file, measured) : measured.changedUs > appliedUs;
}

const isWrittenSince = ({ stagedUs }: LastRecordedFile, { writtenUs }: Measured): boolean =>
  stagedUs !== undefined && writtenUs > stagedUs;

/**
 * Whether the crash has lost no name of the record. A file system writes names to the disk in the order in which they
 * were changed, and a folder's time with them. So the host's own folder, in which others change only grants, must not be older
 * than the application of the record. If somebody has changed these since, its time says nothing.
 */
function hasAllNames({ appliedUs, isJudged }: LastRecordedFile, own: Directory, editedUs: number): boolean {
  return !isJudged && appliedUs !== null && own.namesChangedUs >= appliedUs && editedUs < appliedUs;
}

/** When somebody has changed a store's grants by hand; 0 if nobody has since their last record. When they were removed, nobody knows. */
function grantsEditedUs(own: Directory, files: readonly LastRecordedFile[]): number {
  const recorded = files.find(({ scope, path }) => scope === grantsScope && path === grantsPath);
  const present = own.measure(grantsPath);
  if (present === null) return recorded === undefined || recorded.after === null ? 0 : Infinity;
  return present.changedUs > (recorded?.appliedUs ?? 0) ? present.changedUs : 0;
}

/**
 * Whether someone has put another folder into the place of one on the file's way, such as a backup of a scope that was
 * moved there. The times of what is in it are older than the record, and so say nothing.
 */
const isOtherWay = (recorded: RecordedFile["way"], present: readonly string[]): boolean =>
  recorded !== undefined && present.some((inode, at) => inode !== recorded[at]);

/** Whether a record has removed exactly this content from the trash, for good. */
export const isPurge = ({ path, before, after }: ChangedFile, digest: string | null): boolean =>
  after === null && isTrashPath(path) && digest === before;
