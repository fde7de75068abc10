/** Where the entries come from that a call's answer shows, but for the user's own. */
import { isUsersOwn } from "../../shared/entry-origin.ts";
import type { EntryOrigin } from "../../shared/entry-origin.ts";
import { originClasses } from "../../shared/origin.ts";
import { entryNameAt, isDerivedFile, isEntryFile } from "../plugins/family-files.ts";
import { listsEntries, reachesStores } from "../plugins/loaded-tools.ts";
import type { CatalogTool } from "../plugins/loaded-tools.ts";
import type { ContentOrigin } from "../store/versions/content-origins.ts";
import type { Seen } from "../values/change-set.ts";
import type { ToolSuccess } from "../values/tool-result.ts";
import { AnswerWords } from "./answer-words.ts";
import type { ReadScope } from "./read-scope.ts";

export interface Answered {
  readonly found: CatalogTool;
  readonly scopes: readonly ReadScope[];
  /** What the guest has read. */
  readonly seen: readonly Seen[];
  readonly answer: ToolSuccess;
  /** Files that the guest was not shown, by `keyOf`. */
  readonly hidden: ReadonlyMap<string, HiddenFile>;
}

/** A file of an entry. */
export interface HiddenFile {
  readonly scope: ReadScope;
  readonly path: string;
}

/** The least trusted first, and of those the latest first. */
export async function entryOrigins(answered: Answered): Promise<EntryOrigin[]> {
  const { found } = answered;
  const read = await filesRead(answered);
  const files = listsEntries(found) ? await listed(answered, read) : shown(answered, read);
  return files
    .filter(isTold)
    .map((file) => originOf(file, found))
    .toSorted(byTrust);
}

/** A file that can have an entry. */
interface ReadFile extends ContentOrigin, HiddenFile {}

/** Those that its guest has read. */
export async function filesRead({ found, scopes, seen }: Answered): Promise<ReadFile[]> {
  const byName = new Map(scopes.map((scope) => [scope.scope, scope]));
  const read = seen.map(async ({ scope: name, path, digest }) => {
    const scope = byName.get(name);
    if (scope === undefined || digest === null || !isEntryFile(found.files, { scope: name, path })) return [];
    return [readFile(scope, path, await scope.originOf(path, digest))];
  });
  return (await Promise.all(read)).flat();
}

const readFile = (scope: ReadScope, path: string, origin: ContentOrigin): ReadFile => ({
  scope,
  path,
  class: origin.class,
  trust: origin.trust,
  atMs: origin.atMs,
});

function originOf(file: ReadFile, found: CatalogTool): EntryOrigin {
  const { scope, path, class: of, trust, atMs } = file;
  const at = atMs === null ? null : new Date(atMs).toISOString();
  return { scope: scope.scope, path, name: scope.owner + (nameOf(file, found) ?? path), class: of, trust, at };
}

const nameOf = ({ scope: { scope }, path }: HiddenFile, { files }: CatalogTool): string | null =>
  entryNameAt(files, { scope, path });

/**
 * An index or a list shows what its guest has read. If that is a derived file, it can show any entry of the scope; if the
 * entries have names, only those whose names are in its text.
 */
async function listed(answered: Answered, read: readonly ReadFile[]): Promise<ReadFile[]> {
  const { found, scopes, hidden } = answered;
  const all = new Map(read.map((file) => [keyOf(file), file]));
  for (const scope of scopes.filter((each) => readsDerived(answered, each))) {
    for (const [path, origin] of await scope.files(false)) {
      const key = keyOf({ scope, path });
      if (isUsersOwn(origin.trust) || all.has(key) || hidden.has(key)) continue;
      if (isEntryFile(found.files, { scope: scope.scope, path })) all.set(key, readFile(scope, path, origin));
    }
  }
  const isShown = isShownBy(answered);
  return Array.from(all.values()).filter((file) => !isUsersOwn(file.trust) && isShown(file));
}

/**
 * Whether the answer of an index or a list can show an entry whose file its guest was not shown. Of shared stores, it was
 * not shown the derived files either.
 */
export function canShowHidden(answered: Answered): boolean {
  const { found, hidden } = answered;
  if (hidden.size === 0 || reachesStores(found)) return false;
  if (!found.files.isDeclared) return true;
  const isShown = isShownBy(answered);
  return Array.from(hidden.values()).some((file) => readsDerived(answered, file.scope) && isShown(file));
}

const readsDerived = ({ found, seen }: Answered, { scope: name }: ReadScope): boolean =>
  seen.some(({ scope, path }) => scope === name && isDerivedFile(found.files, { scope, path }));

function isShownBy({ found, answer }: Answered): (file: HiddenFile) => boolean {
  const words = new AnswerWords(answer);
  return (file) => {
    const name = nameOf(file, found);
    return name === null || words.hasAnywhere(name);
  };
}

/** Unambiguous, because no path can contain a colon. */
export const keyOf = ({ scope: { scope }, path }: HiddenFile): string => `${scope}:${path}`;

/**
 * An answer shows what its guest has read. Of several files, those that it names in fields for names, if it names any. A
 * path with `_.` in it can stand for another name, so that one always counts. An answer that has fields, and no text in
 * any of them, shows none.
 */
function shown({ found, answer }: Answered, read: readonly ReadFile[]): readonly ReadFile[] {
  if (read.length < 2 || read.every(({ trust }) => isUsersOwn(trust))) return read;
  const words = new AnswerWords(answer);
  if (words.isEmptyList) return [];
  const isNamed = (file: ReadFile): boolean => words.has(file.path) || words.has(nameOf(file, found) ?? file.path);
  if (!read.some(isNamed)) return read;
  return read.filter((file) => isNamed(file) || file.path.includes("_."));
}

/**
 * Nobody has told where an unstated entry comes from. In a memory of which nobody ever tells anything, that would be
 * said of every entry, and so distinguish none.
 */
const isTold = ({ scope, trust }: ReadFile): boolean => !isUsersOwn(trust) && (trust !== "unstated" || scope.hasStated);

function byTrust(a: EntryOrigin, b: EntryOrigin): number {
  const lower = originClasses.indexOf(b.trust) - originClasses.indexOf(a.trust);
  return lower || (a.at === b.at ? 0 : (a.at ?? "") < (b.at ?? "") ? 1 : -1);
}
