/** Finds files by the names that people type. */
import { encodedPath } from "../../shared/encoded-name.ts";
import { nearestName } from "../../shared/nearest-name.ts";
import { isTrashPath } from "../../shared/path.ts";
import { quoted } from "../../shared/text.ts";
import { ownScopesOf } from "../plugins/tools.ts";
import type { LoadedTools } from "../plugins/tools.ts";
import { placeKey } from "../values/change-set.ts";
import type { Place } from "../values/change-set.ts";
import { ToolError } from "../values/tool-error.ts";
import { giveTurn } from "../values/turns.ts";
import { optional, text } from "./field.ts";
import type { Operation } from "./operation.ts";
import { eachPart } from "./user-scopes.ts";
import type { HeldPart } from "./user-scopes.ts";

/** A file by its name and, if files of several scopes have that, its scope. */
export interface NamedFile {
  readonly name: string;
  readonly scope?: string | undefined;
}

/** Those of an operation on one file. */
export const fileFields = {
  name: text("NAME", "the name of an entry, or the path of a file"),
  scope: optional(text("SCOPE", "the scope of the file, if files of several scopes have the name")),
};

/** The path that a person means, who types it as lists and disks show it, in any form of Unicode; or who types a path. */
export const typedPath = (typed: string): string => encodedPath(typed) ?? typed;

/**
 * Those that a name means: the path of a file, with or without its scope, or an entry's name, also as people write it. The names
 * of some entries only their plugin knows; it is asked if nothing else has the name.
 */
export async function namedFiles<File extends Place>(
  operation: Operation,
  files: readonly File[],
  name: string,
): Promise<readonly File[]> {
  const { tools } = operation;
  const found = filesOfName(files, name, (file) => entryOf(tools, file));
  if (found.length > 0) return found;
  const notes = await noteNames(operation);
  return filesOfName(files, name, (file) => notes.get(placeKey(file)) ?? null);
}

/** By place, the names of entries that are not where `entryFile` says. */
async function noteNames(operation: Operation): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  for (const tool of operation.tools.withRole("entries")) {
    const [scope] = ownScopesOf(tool);
    if (scope === undefined || tool.tool.entryFile === undefined) continue;
    const { entries } = await operation.ask("entries", tool, {});
    for (const { name, path } of entries) if (path !== undefined) names.set(placeKey({ scope, path }), name);
  }
  return names;
}

function filesOfName<File extends Place>(
  files: readonly File[],
  name: string,
  entryAt: (file: File) => string | null,
): readonly File[] {
  const [folded, typed] = [foldedName(name), typedPath(name)];
  const meanings: readonly ((file: File) => boolean)[] = [
    (file) => file.path === typed || entryAt(file) === name,
    ({ scope, path }) => `${scope}/${path}` === typed,
    (file) => {
      const entry = entryAt(file);
      return entry !== null && foldedName(entry) === folded;
    },
  ];
  for (const isMeant of meanings) {
    const found = files.filter(isMeant);
    if (found.length > 0) return found;
  }
  return [];
}

/** What a plugin makes from other files is no entry. */
const entryOf = (tools: LoadedTools, file: Place): string | null =>
  tools.isDerivedAt(file) ? null : tools.entryAt(file);

/** People write "Preferred language" where a name has dashes. */
const foldedName = (name: string): string =>
  name
    .normalize("NFC")
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, "-");

/** Throws `ENTRY_NOT_FOUND` if no present file has the name, and `INPUT_INVALID` if several have it. */
export const findLive = (operation: Operation, named: NamedFile): Promise<Place> =>
  findOne(operation, named, async ({ held, scopes }, isOfScope) => {
    const files: Place[] = [];
    for (const scope of scopes.filter(isOfScope)) {
      for (const { path } of await held.list(scope, "")) if (!isTrashPath(path)) files.push({ scope, path });
    }
    return files;
  });

/** The same of the files that the history names, also of deleted ones. */
export const findVersioned = (operation: Operation, named: NamedFile): Promise<Place> =>
  findOne(operation, named, async ({ held, hidden }, isOfScope) => {
    // Each file once: it can have thousands of versions.
    const files = new Map<string, Place>();
    for (const version of await held.history.versions()) {
      await giveTurn();
      for (const { scope, path } of version.files) {
        if (!hidden.includes(scope) && isOfScope(scope)) files.set(placeKey({ scope, path }), { scope, path });
      }
    }
    return [...files.values()];
  });

async function findOne(
  operation: Operation,
  { name, scope }: NamedFile,
  filesIn: (part: HeldPart, isOfScope: (scope: string) => boolean) => Promise<readonly Place[]>,
): Promise<Place> {
  const only = scope === undefined ? undefined : [scope];
  const isOfScope = (each: string): boolean => scope === undefined || each === scope;
  const parts = await eachPart(operation, { mode: "read", only }, (part) => filesIn(part, isOfScope));
  const files = parts.flat();
  const [first, ...others] = await namedFiles(operation, files, name);
  if (first === undefined) throw noEntry(operation, name, files);
  if (others.length === 0) return first;
  const places = [first, ...others].map((file) => `${file.scope}/${file.path}`).join(", ");
  throw new ToolError(
    "INPUT_INVALID",
    `Cannot ${operation.action} ${quoted(name)}: it can be any of ${places}; name the scope as well`,
  );
}

/** `files`: those that there are. The nearest of their entries is named. */
export function noEntry({ action, tools }: Operation, name: string, files: readonly Place[]): ToolError {
  const known = [...new Set(files.flatMap((file) => entryOf(tools, file) ?? []))];
  const hint = known.length === 0 ? "" : `; did you mean ${quoted(nearestName(name, known))}?`;
  return new ToolError("ENTRY_NOT_FOUND", `Cannot ${action} ${quoted(name)}: there is no such entry${hint}`);
}
