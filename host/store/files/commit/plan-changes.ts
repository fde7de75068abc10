/** From a change set, which is a sequence of steps, to what each file will be: the content of a WAL's record. */
import type { ChangeSet } from "../../../values/change-set.ts";
import { ToolError } from "../../../values/tool-error.ts";
import type { ScopeFolders } from "./scope-folders.ts";
import { digestOf } from "./wal-record.ts";
import type { RecordedFile } from "./wal-record.ts";

export interface PlannedFile extends RecordedFile {
  /** Where on disk this very content lies now, when the file is to be moved rather than written. */
  readonly from: string | null;
  /** Nothing is to be done: the content is there already. */
  readonly isSame: boolean;
}

interface FileState {
  readonly content: Buffer | null;
  readonly origin: string | null;
}

/** Reads each touched file once and plays the steps through. */
export function planChanges(folders: ScopeFolders, changes: ChangeSet): PlannedFile[] {
  const files = new Map<string, { scope: string; path: string; before: Buffer | null; now: FileState }>();
  const at = (scope: string, path: string): { before: Buffer | null; now: FileState } => {
    const key = `${scope}:${path}`;
    let file = files.get(key);
    if (!file) {
      const before = folders.read(scope, path);
      file = { scope, path, before, now: { content: before, origin: path } };
      files.set(key, file);
    }
    return file;
  };
  for (const change of changes) {
    const file = at(change.scope, change.path);
    if (change.kind === "write") {
      file.now = { content: Buffer.from(change.content), origin: null };
      continue;
    }
    if (file.now.content === null) throw gone(change.path);
    if (change.kind === "trash") moveInto(at(change.scope, change.trashed), file.now, change.trashed);
    file.now = { content: null, origin: null };
  }
  const moved = new Set(Array.from(files.values(), ({ scope, path, now }) => `${scope}:${sourceOf(path, now) ?? ""}`));
  return Array.from(files.entries(), ([key, { scope, path, before, now }]) => {
    if (before === null && now.content !== null) folders.refuseTwin(scope, path);
    // A file that is moved away is not there any more, even when the same content is to take its place.
    const isSame = !moved.has(key) && areEqual(before, now.content);
    return { scope, path, before: digestOf(before), after: now.content, from: sourceOf(path, now), isSame };
  });
}

function areEqual(a: Buffer | null, b: Buffer | null): boolean {
  return a === null || b === null ? a === b : a.equals(b);
}

/** Where the content that a path is to have lies now, when that is somewhere else. */
function sourceOf(path: string, { content, origin }: FileState): string | null {
  return content !== null && origin !== path ? origin : null;
}

function moveInto(target: { now: FileState }, moved: FileState, trashed: string): void {
  if (target.now.content !== null) {
    throw new ToolError("STORAGE_FAILED", `Cannot use "${trashed}": it has come into being meanwhile`);
  }
  target.now = moved;
}

function gone(path: string): ToolError {
  return new ToolError("STORAGE_FAILED", `Cannot move "${path}": it is gone`);
}

/** What a plan that is given up leaves behind: each of its files as it is now. */
export function asPresent(folders: ScopeFolders, planned: readonly PlannedFile[]): RecordedFile[] {
  return planned.map(({ scope, path, after }) => ({
    scope,
    path,
    before: digestOf(after),
    after: folders.read(scope, path),
  }));
}

/** What the WAL keeps of a planned file. */
export function withoutSteps({ scope, path, before, after }: RecordedFile): RecordedFile {
  return { scope, path, before, after };
}
