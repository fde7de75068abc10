import type { Version } from "../store/versions/version.ts";
import type { FileVersion, HistoryOptions } from "./file-version.ts";
import type { Operation } from "./operation.ts";
import { checkScopes, eachPart } from "./user-scopes.ts";

/** Every version of the user's files, the latest first. */
export async function listVersions(operation: Operation, { scope, path }: HistoryOptions): Promise<FileVersion[]> {
  const only = scope === undefined ? undefined : [scope];
  const parts = await eachPart(operation, { writes: false, only }, async ({ held: { history }, scopes, hidden }) => ({
    scopes,
    // A scope that is empty by now still has a history.
    files: (await history.versions()).flatMap((version) =>
      filesOf(version).filter((file) => !hidden.includes(file.scope)),
    ),
  }));
  const files = parts.flatMap((part) => part.files);
  checkScopes("show the history of", only, [
    ...parts.flatMap(({ scopes }) => scopes),
    ...files.map((file) => file.scope),
  ]);
  const isAsked = (file: FileVersion): boolean =>
    (scope === undefined || file.scope === scope) && (path === undefined || file.path === path);
  return files.filter(isAsked).toSorted((a, b) => b.at.getTime() - a.at.getTime() || b.seq - a.seq);
}

function filesOf({ files, atMs, prev: _prev, ...ofAll }: Version): FileVersion[] {
  const at = new Date(atMs);
  return files.map((file) => Object.assign({ at }, ofAll, file));
}
