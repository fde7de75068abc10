/** The host's records about a user, one file each: `.memcell/<kind>/<name>.json`. */
import type { Directory } from "../../disk/directory.ts";
import { createOverLeftover } from "../../disk/replace-file.ts";
import { ToolError } from "../../values/tool-error.ts";
import { recordAt, recordKinds } from "../home.ts";
import type { RecordKind } from "../home.ts";

/** A larger file is none of ours. JSON makes up to six times as much of what a waiting call writes. */
const bytesMax = 16 * 1024 * 1024;

/** By name, sorted. `own` is the host's own folder. */
export function recordSizes(own: Directory | null, kind: RecordKind): Map<string, number> {
  using folder = own && own.openFolder(kind);
  const found = (folder?.entries() ?? []).flatMap((entry): [string, number][] => {
    const record = recordAt(`${kind}/${entry.name}`);
    return entry.kind === "file" && record ? [[record.name, folder?.measure(entry.name)?.bytes ?? 0]] : [];
  });
  return new Map(found.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** `null` if there is none. Throws `STORAGE_UNSAFE` for what is no record, in its place or in that of its folder. */
export function readRecord(own: Directory | null, kind: RecordKind, name: string): string | null {
  using folder = own && own.openFolder(kind);
  return (folder && contentOf(folder, `${name}.json`))?.toString("utf8") ?? null;
}

/**
 * As a change finds it. What is no record counts as an empty one, which is replaced unread. A folder stays in its place:
 * throws `STORAGE_UNSAFE`.
 */
export function replacedRecord(folder: Directory, name: string): Buffer | null {
  try {
    return contentOf(folder, name);
  } catch (error) {
    const isFolder = folder.entries().some((each) => each.name === name && each.kind === "folder");
    if (isFolder || !(error instanceof ToolError) || error.code !== "STORAGE_UNSAFE") throw error;
    return Buffer.alloc(0);
  }
}

function contentOf(folder: Directory, name: string): Buffer | null {
  using file = folder.openFile(name, name, "read");
  if (file === null) return null;
  const bytes = file.size();
  if (bytes <= bytesMax) return file.read(0, bytes);
  throw new ToolError("STORAGE_UNSAFE", `Cannot read a record: it is ${bytes} bytes, at most ${bytesMax} allowed`);
}

/**
 * There as long as the names of records are perhaps not on the disk. A process that was killed before its flush leaves
 * names that the system shows and the disk does not have: whoever holds the home next flushes them first.
 */
const mark = "staged-mark";

/** Removes records without a log, durably. */
export async function removeRecords(own: Directory, paths: readonly string[]): Promise<void> {
  createOverLeftover(own, mark, { content: Buffer.alloc(0), shown: mark });
  for (const kind of recordKinds) {
    using folder = own.openFolder(kind);
    if (folder === null) continue;
    const names = paths.flatMap((path) => (recordAt(path)?.kind === kind ? path.slice(kind.length + 1) : []));
    for (const name of names) if (folder.measure(name) !== null) folder.remove(name);
    if (names.length > 0) await folder.flush();
  }
  own.remove(mark);
}

/** Finishes what a killed process has begun, also one of an earlier version. Returns whether it has left staged files. */
export async function settleRecords(own: Directory): Promise<boolean> {
  if (own.measure(mark) === null) return false;
  for (const kind of recordKinds) {
    using folder = own.openFolder(kind);
    await folder?.flush();
  }
  await own.flush();
  return true;
}
