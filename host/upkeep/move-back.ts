/** Moves trashed files back to where they were. Their content does not pass through a guest. */
import { storeLimits } from "../../shared/limits.ts";
import { isTrashPath, parseTrashPath } from "../../shared/path.ts";
import type { RestoreOutput } from "../../shared/roles.ts";
import { quoted } from "../../shared/text.ts";
import type { HeldReader } from "../store/store.ts";
import type { SizedChange } from "../values/change-set.ts";
import { ToolError } from "../values/tool-error.ts";
import { FilePlaces } from "./file-places.ts";
import { trashOf, trashPathOf } from "./trash.ts";
import type { TrashedFile } from "./upkeep.ts";

/** The move of one file. Throws `NAME_CONFLICT` if something is in its place. */
export async function moveBack(reader: HeldReader, file: TrashedFile): Promise<SizedChange> {
  return await moveTo(await livePlaces(reader, file.scope), reader, file);
}

/**
 * The moves of the files that a plugin names beside `file`. Throws `OUTPUT_INVALID` if it names any other file than one
 * of the same trash, once, and the place where it was. `written`: the paths that the plugin has written.
 */
export async function moveOthersBack(
  reader: HeldReader,
  file: TrashedFile,
  { others = [] }: RestoreOutput,
  written: readonly string[],
): Promise<SizedChange[]> {
  if (others.length === 0) return [];
  if (others.length > storeLimits.changesMax) {
    throw refused(file, `${others.length} further files, at most ${storeLimits.changesMax} allowed`);
  }
  const inTrash = new Map((await trashOf(reader, file.scope)).map((each) => [trashPathOf(each), each]));
  inTrash.delete(trashPathOf(file));
  const live = await livePlaces(reader, file.scope);
  const restored = new FilePlaces(written);
  const moves: SizedChange[] = [];
  for (const { trashed, path } of others) {
    const other = inTrash.get(trashed);
    if (other === undefined) throw refused(file, `${quoted(trashed)}, which is not in the trash`);
    if (parseTrashPath(trashed) === null) throw refused(file, `${quoted(trashed)}, which no tool has deleted`);
    if (other.path !== path || isTrashPath(path))
      throw refused(file, `${quoted(path)}, where ${quoted(trashed)} was not`);
    if (restored.inTheWayOf(path) !== null) throw refused(file, `${quoted(path)}, where it has put a file already`);
    restored.add(path);
    moves.push(await moveTo(live, reader, other));
  }
  return moves;
}

const refused = (file: TrashedFile, named: string): ToolError =>
  new ToolError("OUTPUT_INVALID", `${restoring(file)}: the plugin names ${named}`);

async function moveTo(live: FilePlaces, reader: HeldReader, file: TrashedFile): Promise<SizedChange> {
  const { scope, path, bytes } = file;
  // Read as well, so that a file that is created meanwhile is noticed.
  const taken = live.inTheWayOf(path) ?? ((await reader.bytesOf(scope, path)) === null ? null : path);
  if (taken === null) return { kind: "restore", scope, path: trashPathOf(file), restored: path, bytes };
  throw new ToolError("NAME_CONFLICT", `${restoring(file)}: ${quoted(taken)} is in the place of ${quoted(path)}`);
}

async function livePlaces(reader: HeldReader, scope: string): Promise<FilePlaces> {
  return new FilePlaces((await reader.list(scope, "")).map(({ path }) => path));
}

/** The action in messages. */
export const restoring = ({ name }: TrashedFile): string => `Cannot restore ${quoted(name)}`;
