import type { Version } from "../store/versions/version.ts";
import { giveTurn, inTurns, sorted } from "../values/turns.ts";
import type { FileVersion, HistoryOptions } from "./file-version.ts";
import type { Operation } from "./operation.ts";
import { checkScopes, eachPart } from "./user-scopes.ts";

/** Every version of the user's files, the latest first. */
export async function listVersions(operation: Operation, { scope, path }: HistoryOptions): Promise<FileVersion[]> {
  const only = scope === undefined ? undefined : [scope];
  const parts = await eachPart(operation, { writes: false, only }, async ({ held: { history }, scopes, hidden }) => {
    const ofPart: FileVersion[] = [];
    // A scope that is empty by now still has a history.
    for (const version of await history.versions()) {
      await giveTurn();
      for (const file of filesOf(version)) if (!hidden.includes(file.scope)) ofPart.push(file);
    }
    return { scopes, files: ofPart };
  });
  const files = parts.flatMap((part) => part.files);
  checkScopes("show the history of", only, [
    ...parts.flatMap(({ scopes }) => scopes),
    ...files.map((file) => file.scope),
  ]);
  const isAsked = (file: FileVersion): boolean =>
    (scope === undefined || file.scope === scope) && (path === undefined || file.path === path);
  return await inTurns(sorted(files.filter(isAsked), latestFirst));
}

const latestFirst = (a: FileVersion, b: FileVersion): number => b.at.getTime() - a.at.getTime() || b.seq - a.seq;

function filesOf({ files, atMs, prev: _prev, ...ofAll }: Version): FileVersion[] {
  const at = new Date(atMs);
  return files.map((file) => Object.assign({ at }, ofAll, file));
}
