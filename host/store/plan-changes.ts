/**
 * Turns the steps of a change set into each file's final content. Refuses them if the files they are based on have
 * changed.
 */
import type { OriginClass } from "../../shared/origin.ts";
import { foldersOf } from "../../shared/path.ts";
import { movedTo, placeKey } from "../values/change-set.ts";
import type { Change, ChangeSet, Place, Seen } from "../values/change-set.ts";
import { ToolError } from "../values/tool-error.ts";
import type { Pieces } from "../values/turns.ts";
import type { HoldOptions } from "./home.ts";
import type { GrowingFile } from "./reading.ts";
import { digestOf } from "./reading.ts";

/** One file, before and after a change set. */
export interface ChangedFile extends Place {
  /** SHA-256 of the old content; `null` if there was no file. */
  readonly before: string | null;
  readonly after: Buffer | null;
}

export interface PlannedFile extends ChangedFile, GrowingFile {
  /** The path in the scope that the content is moved from; `null` if nothing is moved. */
  readonly from: string | null;
  /** The path that the content was written at in the same change set, if it was moved from there; else `null`. */
  readonly writtenAt: string | null;
  /** How far its new content is trusted at most; `null` if the change set does not say so. */
  readonly trustMax: OriginClass | null;
  /** Nothing has to be done: the file is already as planned and is not moved away. */
  readonly isSame: boolean;
  /** SHA-256 of the new content; `null` if there is none. */
  readonly sha256: string | null;
  /** What the medium showed when the plan was made; `null` if that proves nothing later. */
  readonly stamp: string | null;
}

/** What a medium shows of a file without a read: the same text means the same content. */
interface Stamp {
  readonly text: string;
  readonly bytes: number;
}

/** The files that a plan is made from. */
export interface PresentFiles {
  /** `null` if there is no file. `stamp` is from before the read; `null` if it would not show every change. */
  readStamped(scope: string, path: string): { readonly content: Buffer; readonly stamp: Stamp | null } | null;
  /** `null` if there is no file, or if a stamp would not show every change. */
  stampOf(scope: string, path: string): Stamp | null;
  /** Throws `NAME_CONFLICT` if the medium cannot distinguish a new file's name from an existing one. Default: it can. */
  refuseTwin?(scope: string, path: string): void;
  /** A path as the medium compares it: the same for two paths that it cannot distinguish. Default: the path itself. */
  nameOf?(scope: string, path: string): string;
}

interface FileState extends Pick<PlannedFile, "writtenAt" | "trustMax"> {
  /** `null` if there is no file. The content of a file that is only replaced is never asked for. */
  readonly content: (() => Buffer) | null;
  /** The path that the content had before the change set; `null` if it is new. */
  readonly origin: string | null;
}

/** A file as it was found on the medium, and as the steps so far have made it. */
interface TouchedFile extends Pick<PlannedFile, "scope" | "path" | "before" | "stamp"> {
  readonly bytes: number;
  now: FileState;
}

/**
 * Looks at each touched file once and applies the steps in memory. Throws `StaleCall` if someone has changed one of them
 * since it was read for the call, and `QUOTA_EXCEEDED` if the files hold more than one change set may.
 */
export function* planChanges(present: PresentFiles, changes: ChangeSet, seen: readonly Seen[]): Pieces<PlannedFile[]> {
  const seenAs = seenByFile(seen);
  const files = new Map<string, TouchedFile>();
  const at = (scope: string, path: string): TouchedFile => {
    const key = placeKey({ scope, path });
    const file = files.get(key) ?? findFile(present, { scope, path }, seenAs.get(key));
    files.set(key, file);
    return file;
  };
  for (const change of changes) {
    yield;
    applyStep(change, at);
  }
  const moved = new Set(
    Array.from(files.values(), (file) => placeKey({ scope: file.scope, path: sourceOf(file) ?? "" })),
  );
  const planned: PlannedFile[] = [];
  for (const [key, file] of files) {
    yield;
    const { scope, path, before, stamp, now } = file;
    if (before === null && now.content !== null) present.refuseTwin?.(scope, path);
    const after = now.content?.() ?? null;
    const sha256 = digestOf(after);
    const from = sourceOf(file);
    const writtenAt = now.writtenAt === path ? null : now.writtenAt;
    const { trustMax } = now;
    // A file that is moved away must be written again, even if its new content is the same.
    const isSame = !moved.has(key) && sha256 === before;
    const growth = {
      files: Number(after !== null) - Number(before !== null),
      bytes: (after?.length ?? 0) - file.bytes,
    };
    planned.push({ scope, path, before, stamp, after, sha256, from, writtenAt, trustMax, isSame, growth });
  }
  yield* refuseNesting(present, planned);
  refuseBytes(planned);
  return planned;
}

/** How each file was read. A file that was read with two contents has a digest that no file can have. */
function seenByFile(seen: readonly Seen[]): Map<string, Seen> {
  const files = new Map<string, Seen>();
  for (const each of seen) {
    const { scope, path, digest } = each;
    const key = placeKey(each);
    const other = files.get(key) ?? each;
    files.set(key, other.digest === digest ? each : { scope, path, digest: "several" });
  }
  return files;
}

/** The file of which the medium shows the same as when the call read it needs no second read. */
function findFile(present: PresentFiles, { scope, path }: Place, seen?: Seen): TouchedFile {
  const unchanged = { origin: path, writtenAt: null, trustMax: null };
  const stamp = seen?.stamp ? present.stampOf(scope, path) : null;
  if (seen && stamp !== null && stamp.text === seen.stamp) {
    const content = (): Buffer => {
      const again = present.readStamped(scope, path)?.content ?? null;
      if (again === null || digestOf(again) !== seen.digest) throw new StaleCall();
      return again;
    };
    const now = { ...unchanged, content };
    return { scope, path, before: seen.digest, stamp: stamp.text, bytes: stamp.bytes, now };
  }
  const found = present.readStamped(scope, path);
  const before = digestOf(found && found.content);
  if (seen && seen.digest !== before) throw new StaleCall();
  const now = { ...unchanged, content: found && (() => found.content) };
  return { scope, path, before, stamp: found?.stamp?.text ?? null, bytes: found?.content.length ?? 0, now };
}

function applyStep(change: Change, at: (scope: string, path: string) => TouchedFile): void {
  const file = at(change.scope, change.path);
  if (change.kind === "write") {
    const content = Buffer.from(change.content);
    // A plugin that writes a file anew which the host has written before knows no more of it.
    const trustMax = change.trust ?? file.now.trustMax;
    file.now = { content: () => content, origin: null, writtenAt: change.path, trustMax };
    return;
  }
  if (file.now.content === null) throw new ToolError("STORAGE_FAILED", `Cannot move "${change.path}": it is gone`);
  const path = movedTo(change);
  const target = path === null ? null : at(change.scope, path);
  if (target !== null && target.now.content !== null) {
    throw new ToolError("STORAGE_FAILED", `Cannot use "${path}": it has been created meanwhile`);
  }
  if (target !== null) target.now = file.now;
  file.now = { content: null, origin: null, writtenAt: null, trustMax: null };
}

/** The path that a file's content is moved from; `null` if it is not moved. */
const sourceOf = ({ path, now: { content, origin } }: TouchedFile): string | null =>
  content !== null && origin !== path ? origin : null;

/**
 * Refuses what no disk can hold: two files with one name, or a file where another file needs a folder. Once recorded,
 * such a change could never be applied.
 */
function* refuseNesting(present: PresentFiles, planned: readonly PlannedFile[]): Pieces<void> {
  const nameOf = (scope: string, path: string): string => present.nameOf?.(scope, path) ?? path;
  const names = new Map<string, string>();
  const kept = planned.filter(({ after }) => after !== null);
  if (kept.length < 2) return;
  for (const { scope, path } of kept) {
    yield;
    const name = placeKey({ scope, path: nameOf(scope, path) });
    const other = names.get(name);
    if (other !== undefined) throw nested(path, other);
    names.set(name, path);
  }
  for (const { scope, path } of kept) {
    yield;
    for (const folder of foldersOf(nameOf(scope, path))) {
      const other = names.get(placeKey({ scope, path: folder }));
      if (other !== undefined) throw nested(path, other);
    }
  }
}

const nested = (path: string, other: string): ToolError =>
  new ToolError("NAME_CONFLICT", `Cannot write "${path}": "${other}" would have its name, or the name of its folder`);

/**
 * The most bytes that the files of one change set hold together: a scope's quota and some more. As JSON, where one byte
 * takes up to six, they still fit into an engine's longest string.
 */
const contentBytesMax = 80 * 1024 * 1024;

function refuseBytes(files: readonly ChangedFile[]): void {
  const bytes = files.reduce((sum, { after }) => sum + (after?.length ?? 0), 0);
  if (bytes <= contentBytesMax) return;
  throw new ToolError(
    "QUOTA_EXCEEDED",
    `Cannot make the change durable: its files hold ${bytes} bytes, at most ${contentBytesMax} allowed`,
  );
}

/**
 * Something that the call was based on has changed since: files that somebody edits, a home, a grant. The call is repeated
 * before this error is reported.
 */
export class StaleCall extends ToolError {
  constructor(options?: { readonly cause: unknown }) {
    super("BUSY", "Cannot change the user's files: they were being edited while the call ran", options);
  }
}

/** How many times a call runs at most while someone keeps editing its files. */
const attemptsMax = 3;

/** Runs work, and repeats it if it was stale. Throws the signal's reason if it is already aborted. */
export async function untilFresh<Result>(
  { signal }: Pick<HoldOptions, "signal">,
  work: (isLast: boolean) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    try {
      return await work(attempt === attemptsMax);
    } catch (error) {
      if (!(error instanceof StaleCall) || attempt === attemptsMax) throw error;
    }
  }
}
