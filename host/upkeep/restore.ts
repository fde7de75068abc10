/** Puts a trashed file back: by its plugin, which knows what else belongs to it, or else byte for byte. */
import { trashFolder } from "../../shared/path.ts";
import { quoted } from "../../shared/text.ts";
import type { LoadedTools } from "../plugins/loaded-tools.ts";
import type { HeldReader } from "../store/store.ts";
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
  const restorer = tools.forScope("restore", file.scope);
  if (restorer === null) await putBack(operation, file);
  else {
    const trashed = `${trashFolder}/${file.name}`;
    await operation.ask("restore", restorer, { trashed }, { alsoCommit: [removalOf(file)] });
  }
  return file;
}

/** Whether a file was the entry of a name, where its plugin says how entries and files go together. */
function isEntry(tools: LoadedTools, { scope, path }: TrashedFile, name: string): boolean {
  const entryFile = tools.forScope("entries", scope)?.tool.entryFile;
  return entryFile !== undefined && path === entryFile.split("{name}").join(name);
}

async function putBack(operation: Operation, file: TrashedFile): Promise<void> {
  const { scope, name, path } = file;
  if (!operation.tools.hasScope(scope)) {
    throw new ToolError(
      "TOOL_UNKNOWN",
      `Cannot restore ${quoted(name)}: no plugin that is loaded has the scope "${scope}"`,
    );
  }
  await operation.hold({ scopes: [scope], writes: true }, async (held) => {
    const content = await held.reader.bytesOf(scope, `${trashFolder}/${name}`);
    if (content === null) {
      throw new ToolError("ENTRY_NOT_FOUND", `Cannot restore ${quoted(name)}: it has gone meanwhile`);
    }
    const taken = await takenBy(held.reader, file);
    if (taken !== null) {
      throw new ToolError(
        "NAME_CONFLICT",
        `Cannot restore ${quoted(name)}: ${quoted(taken)} is in the place of "${path}"`,
      );
    }
    await operation.commit(held, [{ kind: "write", scope, path, content, bytes: content.length }, removalOf(file)]);
  });
}

/** The file whose name is taken for a path's, or for a folder on the way, as a disk that folds case tells them apart. */
async function takenBy(reader: HeldReader, { scope, path }: TrashedFile): Promise<string | null> {
  // Looked at as well, so that a file which comes into being meanwhile is noticed.
  if ((await reader.bytesOf(scope, path)) !== null) return path;
  const own = path.toLowerCase();
  const isInTheWay = (other: string): boolean =>
    other === own || other.startsWith(`${own}/`) || own.startsWith(`${other}/`);
  const files = await reader.list(scope, "");
  return files.find((file) => isInTheWay(file.path.toLowerCase()))?.path ?? null;
}
