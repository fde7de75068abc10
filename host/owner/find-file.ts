/** Finds a file in the history, by its path or by the name of its entry. */
import { encodedPath } from "../../shared/encoded-name.ts";
import { counted, quoted } from "../../shared/text.ts";
import type { LoadedTools } from "../plugins/tools.ts";
import type { HeldHome } from "../store/held-homes.ts";
import type { VersionedFile } from "../store/versions/version.ts";
import { placeKey } from "../values/change-set.ts";
import type { Place } from "../values/change-set.ts";
import { ToolError } from "../values/tool-error.ts";
import { giveTurn } from "../values/turns.ts";
import type { Operation } from "./operation.ts";
import { eachPart } from "./user-scopes.ts";

/** A file by its name and, if files of several scopes have that, its scope. */
export interface NamedFile {
  readonly name: string;
  readonly scope?: string | undefined;
}

/** A file, and one of the versions that have changed it. */
export interface VersionPlace extends Place {
  readonly seq: number;
}

/** The path that a person means, who types it as lists and disks show it, in any form of Unicode; or who types a path. */
export const typedPath = (typed: string): string => encodedPath(typed) ?? typed;

/** Throws `ENTRY_NOT_FOUND` if no version names the file, and `INPUT_INVALID` if files of several scopes have the name. */
export async function findFile(operation: Operation, { name, scope }: NamedFile): Promise<Place> {
  const only = scope === undefined ? undefined : [scope];
  const parts = await eachPart(operation, { mode: "read", only }, async ({ held, hidden }) => {
    // Each file once: it can have thousands of versions.
    const files = new Map<string, Place>();
    for (const version of await held.history.versions()) {
      await giveTurn();
      for (const file of version.files) {
        if (!hidden.includes(file.scope) && (scope ?? file.scope) === file.scope) files.set(placeKey(file), file);
      }
    }
    return [...files.values()];
  });
  const { tools, action } = operation;
  const all = parts.flat();
  const typed = typedPath(name);
  const byName = all.filter(({ path }) => path === typed);
  const found = byName.length > 0 ? byName : all.filter((file) => isEntry(tools, file, name));
  const scopes = [...new Set(found.map((file) => file.scope))];
  const [first] = found;
  if (first === undefined) {
    const where = scope === undefined ? "" : ` of ${quoted(scope)}`;
    throw new ToolError("ENTRY_NOT_FOUND", `Cannot ${action} ${quoted(name)}: no version${where} names it`);
  }
  if (scopes.length > 1) {
    const several = `${counted(scopes.length, "scope")} have it, allowed with one of them: ${scopes.join(", ")}`;
    throw new ToolError("INPUT_INVALID", `Cannot ${action} ${quoted(name)}: ${several}`);
  }
  return { scope: first.scope, path: first.path };
}

/** Whether a file is, or was, the entry with this name, if its plugin says which file an entry has. */
export function isEntry(tools: LoadedTools, { scope, path }: Place, name: string): boolean {
  const entryFile = tools.forScope("entries", scope)?.tool.entryFile;
  return entryFile !== undefined && path === entryFile.split("{name}").join(name);
}

/** What a version did to a file. Throws `ENTRY_NOT_FOUND` if it is none of the file's. */
export async function versionOf(
  { action }: Pick<Operation, "action">,
  { history }: Pick<HeldHome, "history">,
  { scope, path, seq }: VersionPlace,
): Promise<VersionedFile> {
  const version = (await history.versions()).find((each) => each.seq === seq);
  const file = version?.files.find((each) => each.scope === scope && each.path === path);
  if (file !== undefined) return file;
  throw new ToolError("ENTRY_NOT_FOUND", `Cannot ${action} ${quoted(path)}: version ${seq} is none of this file`);
}
