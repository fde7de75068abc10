/**
 * Puts a trashed file back: by its plugin, which knows what else belongs to it, or else byte for byte. A file leaves
 * the trash only if the same change set writes the same bytes outside the trash.
 */
import type { ErrorCode } from "../../shared/errors.ts";
import { isTrashPath, trashFolder } from "../../shared/path.ts";
import type { RestoreOutput } from "../../shared/roles.ts";
import { quoted } from "../../shared/text.ts";
import type { PreparedChanges } from "../call/asked-call.ts";
import type { CatalogTool, LoadedTools } from "../plugins/loaded-tools.ts";
import type { HeldReader } from "../store/store.ts";
import type { SizedChange } from "../values/change-set.ts";
import { ToolError } from "../values/tool-error.ts";
import type { Operation } from "./operation.ts";
import { listTrash, removalOf } from "./trash.ts";
import type { TrashedFile } from "./upkeep.ts";

export async function restoreFile(operation: Operation, name: string, scope: string | undefined): Promise<TrashedFile> {
  const { tools } = operation;
  const files = (await listTrash(operation)).filter((file) => scope === undefined || file.scope === scope);
  const file = files.find((each) => each.name === name) ?? files.find((each) => isEntry(tools, each, name));
  if (file === undefined) {
    const where = scope === undefined ? "the trash" : `the trash of ${quoted(scope)}`;
    throw new ToolError("ENTRY_NOT_FOUND", `Cannot restore ${quoted(name)}: it is not in ${where}`);
  }
  if (isTrashPath(file.path)) {
    throw new ToolError(
      "INPUT_INVALID",
      `${actionOn(file)}: ${quoted(file.path)}, where it lay, is in the trash itself`,
    );
  }
  const restorer = tools.forScope("restore", file.scope);
  if (restorer === null || !(await isRestoredBy(operation, restorer, file))) await putBack(operation, file);
  return file;
}

/** Lets the plugin put the file back. Returns `false` if the file is not one of its entries, or is not text. */
async function isRestoredBy(operation: Operation, restorer: CatalogTool, file: TrashedFile): Promise<boolean> {
  let trashed: Uint8Array | undefined;
  const stage = async (reader: HeldReader): Promise<PreparedChanges> => {
    trashed = await trashedBytes(reader, file);
    return { changes: [], seen: reader.seen };
  };
  const accepts = ({ path }: RestoreOutput, changes: readonly SizedChange[]): void => {
    const isAt = (change: SizedChange): boolean => change.path.toLowerCase() === path.toLowerCase();
    const last = changes.findLast((change) => change.scope === file.scope && isAt(change));
    if (trashed && last?.kind === "write" && last.path === path && Buffer.from(last.content).equals(trashed)) return;
    throw new ToolError("OUTPUT_INVALID", `${actionOn(file)}: the plugin has not put it back`);
  };
  try {
    const input = { trashed: trashPathOf(file) };
    await operation.ask("restore", restorer, input, { stage, accepts, alsoCommit: [removalOf(file)] });
    return true;
  } catch (error) {
    if (error instanceof ToolError && noneOfItsOwn.has(error.tableCode)) return false;
    throw error;
  }
}

/**
 * A plugin's errors for a trashed file that is not one of its entries, or not text. If the file is gone, the host
 * notices.
 */
const noneOfItsOwn: ReadonlySet<ErrorCode> = new Set(["ENTRY_NOT_FOUND", "ENTRY_UNREADABLE"]);

/** Whether a file was the entry with this name, if its plugin says which file an entry has. */
function isEntry(tools: LoadedTools, { scope, path }: TrashedFile, name: string): boolean {
  const entryFile = tools.forScope("entries", scope)?.tool.entryFile;
  return entryFile !== undefined && path === entryFile.split("{name}").join(name);
}

async function putBack(operation: Operation, file: TrashedFile): Promise<void> {
  const { scope, path } = file;
  if (!operation.tools.hasScope(scope)) {
    throw new ToolError("TOOL_UNKNOWN", `${actionOn(file)}: no loaded plugin has the scope "${scope}"`);
  }
  await operation.hold({ scopes: [scope], writes: true }, async (held) => {
    const content = await trashedBytes(held.reader, file);
    const taken = await takenBy(held.reader, file);
    if (taken !== null) {
      throw new ToolError("NAME_CONFLICT", `${actionOn(file)}: ${quoted(taken)} is in the place of "${path}"`);
    }
    await operation.commit(held, [{ kind: "write", scope, path, content, bytes: content.length }, removalOf(file)]);
  });
}

async function trashedBytes(reader: HeldReader, file: TrashedFile): Promise<Uint8Array> {
  const bytes = await reader.bytesOf(file.scope, trashPathOf(file));
  if (bytes !== null) return bytes;
  throw new ToolError("ENTRY_NOT_FOUND", `${actionOn(file)}: it has gone meanwhile`);
}

const trashPathOf = ({ name }: TrashedFile): string => `${trashFolder}/${name}`;

const actionOn = ({ name }: TrashedFile): string => `Cannot restore ${quoted(name)}`;

/**
 * A file that is in the way: at the path, at one of its folders, or below the path. Ignores case, as some disks do.
 */
async function takenBy(reader: HeldReader, { scope, path }: TrashedFile): Promise<string | null> {
  // Read as well, so that a file that is created meanwhile is noticed.
  if ((await reader.bytesOf(scope, path)) !== null) return path;
  const own = path.toLowerCase();
  const isInTheWay = (other: string): boolean =>
    other === own || other.startsWith(`${own}/`) || own.startsWith(`${other}/`);
  const files = await reader.list(scope, "");
  return files.find((file) => isInTheWay(file.path.toLowerCase()))?.path ?? null;
}
