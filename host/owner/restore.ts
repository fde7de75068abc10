/**
 * Puts a trashed file back: by its plugin, which knows what else belongs to it, or else by a move. A file leaves the
 * trash only if the same change set moves it to its old place, or writes the same bytes outside the trash.
 */
import type { ErrorCode } from "../../shared/errors.ts";
import { storeLimits } from "../../shared/limits.ts";
import { isTrashPath, parseTrashPath } from "../../shared/path.ts";
import type { RestoreOutput } from "../../shared/roles.ts";
import { quoted } from "../../shared/text.ts";
import type { Accepts } from "../call/asked-call.ts";
import type { CatalogTool } from "../plugins/tools.ts";
import type { HeldHome } from "../store/held-homes.ts";
import type { SizedChange } from "../values/change-set.ts";
import { ToolError } from "../values/tool-error.ts";
import { FilePlaces, livePlaces } from "./file-places.ts";
import { isEntry } from "./find-file.ts";
import type { Operation } from "./operation.ts";
import { listTrash, removalOf, trashPathOf, trashOf } from "./trash.ts";
import type { TrashedFile } from "./upkeep.ts";

export async function restoreFile(operation: Operation, name: string, scope: string | undefined): Promise<TrashedFile> {
  const { tools } = operation;
  const files = (await listTrash(operation)).filter((file) => scope === undefined || file.scope === scope);
  const file =
    files.find((each) => each.name === name) ?? files.find((each) => each.path === name || isEntry(tools, each, name));
  if (file === undefined) {
    const where = scope === undefined ? "the trash" : `the trash of ${quoted(scope)}`;
    throw new ToolError("ENTRY_NOT_FOUND", `Cannot restore ${quoted(name)}: it is not in ${where}`);
  }
  if (isTrashPath(file.path)) {
    throw new ToolError(
      "INPUT_INVALID",
      `${restoring(file)}: ${quoted(file.path)}, where it lay, is in the trash itself`,
    );
  }
  const restorer = tools.forScope("restore", file.scope);
  if (restorer === null || !(await isRestoredBy(operation, restorer, file))) await putBack(operation, file);
  return file;
}

/** Lets the plugin put the file back. Returns `false` if the file is not one of its entries, or is not text. */
async function isRestoredBy(operation: Operation, restorer: CatalogTool, file: TrashedFile): Promise<boolean> {
  // All changes are in the scope of the file: the tool has no other.
  const accepts: Accepts<RestoreOutput> = async (answer, changes, reader) => {
    checkPutBack(file, answer, changes, await trashedBytes(reader, file));
    const written = changes.map(({ path }) => path);
    return [removalOf(file), ...(await moveOthersBack(reader, file, answer, written))];
  };
  try {
    await operation.ask("restore", restorer, { trashed: trashPathOf(file) }, { accepts, freedBytes: file.bytes });
    return true;
  } catch (error) {
    if (error instanceof ToolError && noneOfItsOwn.has(error.tableCode)) return false;
    throw error;
  }
}

/** Throws `OUTPUT_INVALID` unless the plugin's last change at the path that it names is a write of the same bytes. */
function checkPutBack(
  file: TrashedFile,
  { path }: RestoreOutput,
  changes: readonly SizedChange[],
  trashed: Uint8Array,
): void {
  const last = changes.findLast((change) => change.path.toLowerCase() === path.toLowerCase());
  if (last?.kind === "write" && last.path === path && Buffer.from(last.content).equals(trashed)) return;
  throw new ToolError("OUTPUT_INVALID", `${restoring(file)}: the plugin has not put it back`);
}

/**
 * A plugin's errors for a trashed file that is not one of its entries, or not text. If the file is gone, the host
 * notices.
 */
const noneOfItsOwn: ReadonlySet<ErrorCode> = new Set(["ENTRY_NOT_FOUND", "ENTRY_UNREADABLE"]);

async function putBack(operation: Operation, file: TrashedFile): Promise<void> {
  const { scope } = file;
  checkHasScope(operation, scope, restoring(file));
  await operation.hold({ scopes: [scope], mode: "write" }, async (held) => {
    const { length: bytes } = await trashedBytes(held, file);
    await operation.commit(held, [await moveBack(held, { ...file, bytes })]);
  });
}

/** Throws `TOOL_UNKNOWN` if no loaded plugin has the scope. */
export function checkHasScope({ tools }: Operation, scope: string, refusal: string): void {
  if (tools.hasScope(scope)) return;
  const hint = tools.notLoaded.hintForScope(scope);
  throw new ToolError("TOOL_UNKNOWN", `${refusal}: no loaded plugin has the scope "${scope}"`, { hint });
}

async function trashedBytes(reader: HeldHome, file: TrashedFile): Promise<Uint8Array> {
  const bytes = await reader.bytesOf(file.scope, trashPathOf(file));
  if (bytes !== null) return bytes;
  throw new ToolError("ENTRY_NOT_FOUND", `${restoring(file)}: it has gone meanwhile`);
}

/** The move of one file, whose content does not pass through a guest. Throws `NAME_CONFLICT` if something is in its place. */
async function moveBack(reader: HeldHome, file: TrashedFile): Promise<SizedChange> {
  return await moveTo(await livePlaces(reader, file.scope), reader, file);
}

/**
 * The moves of the files that a plugin names beside `file`. Throws `OUTPUT_INVALID` if it names any other file than one
 * of the same trash, once, and the place where it was. `written`: the paths that the plugin has written.
 */
async function moveOthersBack(
  reader: HeldHome,
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

async function moveTo(live: FilePlaces, reader: HeldHome, file: TrashedFile): Promise<SizedChange> {
  const { scope, path, bytes } = file;
  // Read as well, so that a file that is created meanwhile is noticed.
  const taken = live.inTheWayOf(path) ?? ((await reader.bytesOf(scope, path)) === null ? null : path);
  if (taken === null) return { kind: "restore", scope, path: trashPathOf(file), restored: path, bytes };
  throw new ToolError("NAME_CONFLICT", `${restoring(file)}: ${quoted(taken)} is in the place of ${quoted(path)}`);
}

/** The action in messages. */
const restoring = ({ name }: TrashedFile): string => `Cannot restore ${quoted(name)}`;
