/** From a change set, which is a sequence of steps, to what each file will be; unless what it was made from is no longer there. */
import { foldersOf } from "../../shared/path.ts";
import type { ChangeSet, Seen } from "../values/change-set.ts";
import { ToolError } from "../values/tool-error.ts";
import { digestOf } from "./reading.ts";
import type { HoldOptions } from "./store.ts";

/** What a change set makes of one file. */
export interface ChangedFile {
  readonly scope: string;
  readonly path: string;
  /** SHA-256 of what was there; `null` when nothing was. */
  readonly before: string | null;
  readonly after: Buffer | null;
}

export interface PlannedFile extends ChangedFile {
  /** Under which path of the scope this very content lies now, when the file is to be moved rather than written. */
  readonly from: string | null;
  /** Nothing is to be done: the content is there already. */
  readonly isSame: boolean;
}

/** The files that a plan is made from. */
export interface PresentFiles {
  read(scope: string, path: string): Buffer | null;
  /** Throws `NAME_CONFLICT` where a new file would meet another one that the medium does not tell from it. */
  refuseTwin(scope: string, path: string): void;
  /** A path as the medium tells it from others: two that it does not tell apart have the same. */
  nameOf(scope: string, path: string): string;
}

interface FileState {
  readonly content: Buffer | null;
  readonly origin: string | null;
}

/** Reads each touched file once and plays the steps through. */
export function planChanges(present: PresentFiles, changes: ChangeSet): PlannedFile[] {
  const files = new Map<string, { scope: string; path: string; before: Buffer | null; now: FileState }>();
  const at = (scope: string, path: string): { before: Buffer | null; now: FileState } => {
    const key = `${scope}:${path}`;
    let file = files.get(key);
    if (!file) {
      const before = present.read(scope, path);
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
  const planned = Array.from(files.entries(), ([key, { scope, path, before, now }]) => {
    if (before === null && now.content !== null) present.refuseTwin(scope, path);
    // A file that is moved away is not there any more, even when the same content is to take its place.
    const isSame = !moved.has(key) && areEqual(before, now.content);
    return { scope, path, before: digestOf(before), after: now.content, from: sourceOf(path, now), isSame };
  });
  refuseNesting(present, planned);
  return planned;
}

/** What no disk can hold: two files of one name, or a file in another one's place for a folder. It could never be applied. */
function refuseNesting(present: PresentFiles, planned: readonly PlannedFile[]): void {
  const names = new Map<string, string>();
  const kept = planned.filter(({ after }) => after !== null);
  if (kept.length < 2) return;
  for (const { scope, path } of kept) {
    const name = `${scope}:${present.nameOf(scope, path)}`;
    const other = names.get(name);
    if (other !== undefined) throw nested(path, other);
    names.set(name, path);
  }
  for (const { scope, path } of kept) {
    for (const folder of foldersOf(present.nameOf(scope, path))) {
      const other = names.get(`${scope}:${folder}`);
      if (other !== undefined) throw nested(path, other);
    }
  }
}

const nested = (path: string, other: string): ToolError =>
  new ToolError("NAME_CONFLICT", `Cannot write "${path}": "${other}" is to lie in its place, or in that of its folder`);

/**
 * What the files of one change set may hold together: a scope's quota and some more. Written as JSON, in which a byte takes
 * up to six, it stays within what an engine allows a string.
 */
const contentBytesMax = 80 * 1024 * 1024;

/** Throws `QUOTA_EXCEEDED` when files hold more than one change set may. */
export function refuseBytes(files: readonly ChangedFile[]): void {
  const bytes = files.reduce((sum, { after }) => sum + (after?.length ?? 0), 0);
  if (bytes <= contentBytesMax) return;
  throw new ToolError(
    "QUOTA_EXCEEDED",
    `Cannot make the change durable: its files hold ${bytes} bytes, at most ${contentBytesMax} allowed`,
  );
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

/** Someone has changed the user's files since the call read them. The call is made again before this is reported. */
export class StaleCall extends ToolError {
  constructor() {
    super("BUSY", "Cannot change the user's files: they were being edited while the call ran");
  }
}

/** Whoever has not said that it writes holds no more than it takes to look. */
export function checkCommits({ writes, isLookingOnly = false }: HoldOptions): void {
  if (!writes || isLookingOnly) throw new RangeError("Nothing can be committed by who only looks");
}

/** How often a call is made again when someone edits its files at the same time. */
const attemptsMax = 3;

/** Does a call's work again when it was stale. Throws the reason of a signal that is aborted already. */
export async function untilFresh<Result>({ signal }: HoldOptions, work: () => Promise<Result>): Promise<Result> {
  signal?.throwIfAborted();
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StaleCall) || attempt === attemptsMax) throw error;
    }
  }
}

/** A file that someone has changed since the guest read it: its answer is not worth anything any more. */
export function refuseStale(planned: readonly PlannedFile[], seen: readonly Seen[]): void {
  const befores = new Map(planned.map(({ scope, path, before }) => [`${scope}:${path}`, before]));
  for (const { scope, path, digest } of seen) {
    const before = befores.get(`${scope}:${path}`);
    if (before !== undefined && before !== digest) throw new StaleCall();
  }
}
