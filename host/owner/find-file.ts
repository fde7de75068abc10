/** Finds files by the names that people type. */
import { decodedName, encodedPath, shownPath } from "../../shared/encoded-name.ts";
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
import { endingCodes } from "./operate.ts";
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
 * Those that a name means, the surest meaning first: an entry's name, a path without or with its scope, an entry's name as people
 * write it, the path of a note without its ending, or its name as people write it. Of some entries only the plugin knows the
 * names, and of none that is in the trash.
 */
export async function namedFiles<File extends Place>(
  operation: Operation,
  files: readonly File[],
  name: string,
): Promise<readonly File[]> {
  const { tools } = operation;
  const told = (file: Place): string | null => (tools.isDerivedAt(file) ? null : tools.entryAt(file));
  const [folded, typed] = [foldedName(name), typedPath(name)];
  const exact = firstOf(files, [
    (file) => told(file) === name,
    ({ path }) => path === typed,
    ({ scope, path }) => `${scope}/${path}` === typed,
  ]);
  if (exact.length > 0) return exact;
  const entryAt = await entryNames(operation, files);
  return firstOf(files, [
    (file) => entryAt(file) === name,
    (file) => {
      const entry = entryAt(file);
      return entry !== null && foldedName(entry) === folded;
    },
    ({ scope, path }) => keepsNotes(tools, scope) && (path === `${typed}.md` || path.endsWith(`/${typed}.md`)),
    (file) => keepsNotes(tools, file.scope) && !tools.isDerivedAt(file) && foldedName(stemOf(file.path)) === folded,
  ]);
}

/** The name of a note's file, as a person has given it. */
const stemOf = (path: string): string => decodedName(path.slice(path.lastIndexOf("/") + 1)).replace(/\.md$/, "");

/** Whether the files of a scope are entries one by one. */
const keepsNotes = (tools: LoadedTools, scope: string): boolean =>
  tools.forScope("entries", scope)?.tool.entryFile !== undefined;

function firstOf<File>(files: readonly File[], meanings: readonly ((file: File) => boolean)[]): readonly File[] {
  for (const isMeant of meanings) {
    const found = files.filter(isMeant);
    if (found.length > 0) return found;
  }
  return [];
}

/** The name of the entry that a file has; what a plugin makes from other files has none. A plugin that fails names none. */
async function entryNames(operation: Operation, files: readonly Place[]): Promise<(file: Place) => string | null> {
  const { tools } = operation;
  const isTold = (file: Place): boolean => tools.isDerivedAt(file) || tools.entryAt(file) !== null;
  const names = new Map<string, string>();
  for (const found of tools.withRole("entries")) {
    const [scope] = ownScopesOf(found);
    if (scope === undefined || found.tool.entryFile === undefined) continue;
    if (files.every((file) => file.scope !== scope || isTold(file))) continue;
    const { entries } = await operation.ask("entries", found, {}).catch((error: unknown) => {
      if (error instanceof ToolError && !endingCodes.has(error.code)) return { entries: [] };
      throw error;
    });
    for (const { name, path } of entries) if (path !== undefined) names.set(placeKey({ scope, path }), name);
  }
  return (file) => (tools.isDerivedAt(file) ? null : (tools.entryAt(file) ?? names.get(placeKey(file)) ?? null));
}

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
  if (first === undefined) throw await noEntry(operation, name, files);
  if (others.length === 0) return first;
  throw severalHave(operation, name, [first, ...others]);
}

export function severalHave({ action }: Operation, name: string, files: readonly Place[]): ToolError {
  const places = files.map(({ scope, path }) => shownPath(`${scope}/${path}`)).join(", ");
  return new ToolError(
    "INPUT_INVALID",
    `Cannot ${action} ${quoted(name)}: it can be any of ${places}; expected one of these`,
  );
}

/** `files`: those that there are. The nearest of their entries is named. */
export async function noEntry(operation: Operation, name: string, files: readonly Place[]): Promise<ToolError> {
  const entryAt = await entryNames(operation, files);
  const known = [...new Set(files.flatMap((file) => entryAt(file) ?? []))];
  const hint = known.length === 0 ? "" : `; did you mean ${quoted(nearestName(name, known))}?`;
  return new ToolError("ENTRY_NOT_FOUND", `Cannot ${operation.action} ${quoted(name)}: there is no such entry${hint}`);
}
