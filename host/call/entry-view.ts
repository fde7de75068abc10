/** What a call's guest is shown of the entries, and what its caller is told of those that its answer shows. */
import { isUsersOwn } from "../../shared/entry-origin.ts";
import type { EntryOrigin } from "../../shared/entry-origin.ts";
import type { Envelope } from "../../shared/envelope.ts";
import { isAtLeast, originClasses } from "../../shared/origin.ts";
import { entryNameAt, isDerivedFile, isEntryFile } from "../plugins/family-files.ts";
import { reachesStores, showsEntries } from "../plugins/loaded-tools.ts";
import type { CatalogTool } from "../plugins/loaded-tools.ts";
import { StaleCall } from "../store/plan-changes.ts";
import type { ContentOrigin } from "../store/versions/content-origins.ts";
import type { WorkerReply } from "../thread/worker.ts";
import type { Seen, SizedChange } from "../values/change-set.ts";
import type { ToolSuccess } from "../values/tool-result.ts";
import type { CallOptions, EntryView } from "./asked-call.ts";
import type { ReadScope } from "./read-scope.ts";

/** The entries as a run of the guest sees them. Valid as long as its scopes are held. */
interface SeenEntries {
  readonly found: CatalogTool;
  readonly scopes: readonly ReadScope[];
  /** `null`: it sees everything. */
  readonly view: EntryView | null;
  /** What it reads as done, so that it does not see the rest. */
  readonly changes: readonly SizedChange[];
  /** What it does not see, by `placeIn`. */
  readonly hidden: ReadonlySet<string>;
  /** Whether the caller is told where entries come from. */
  readonly isTold: boolean;
}

export async function seenEntries(
  found: CatalogTool,
  scopes: readonly ReadScope[],
  { view = null, isUpkeep = false }: { readonly view?: EntryView | null } & Pick<CallOptions, "isUpkeep">,
): Promise<SeenEntries> {
  const isTold = !isUpkeep && showsEntries(found) && scopes.some(({ hasStated }) => hasStated);
  const hiding = view === null ? { changes: [], hidden: new Set<string>() } : await hide(found, scopes, view);
  return { found, scopes, view, isTold, ...hiding };
}

/** An answer as the caller gets it. Throws `StaleCall` if the guest has read what it was not to see. */
export async function withOrigins(
  answer: Extract<Envelope, { ok: true }>,
  { seen, shows }: Pick<WorkerReply, "seen" | "shows">,
  { found, scopes, view, hidden, isTold }: SeenEntries,
): Promise<ToolSuccess> {
  if (view === null && !isTold) return answer;
  const made = (view?.made ?? []).map(({ scope, path }) => ({ scope, path, digest: "made" }));
  const read = await readBy(found, scopes, [...seen, ...made]);
  // Somebody has just moved it there by hand.
  if (view !== null && Array.from(read.files.values()).some(({ trust }) => !isAtLeast(trust, view.least)))
    throw new StaleCall();
  const shown = await shownBy(found, read, { shows, hidden });
  view?.tells?.(shown.canShowHidden);
  const origins = isTold ? originsOf(shown.files, found) : [];
  return origins.length === 0 ? answer : { ...answer, origins };
}

/** Hides the entries that are trusted less than the view says. */
async function hide(
  found: CatalogTool,
  scopes: readonly ReadScope[],
  { least, made }: EntryView,
): Promise<Pick<SeenEntries, "changes" | "hidden">> {
  const changes: SizedChange[] = [];
  const hidden = new Set<string>();
  for (const each of scopes) {
    const { scope } = each;
    const files = await each.files(true);
    const isHidden = (path: string): boolean =>
      isEntryFile(found.files, { scope, path }) && !isAtLeast(files.get(path)?.trust ?? "owner_edit", least);
    const paths = Array.from(files.keys()).filter(isHidden);
    for (const path of paths) hidden.add(each.placeOf(path));
    // No tool mends another's store. A family makes its derived files again when they are missing.
    const isDropped = (path: string): boolean => isDerivedFile(found.files, { scope, path });
    const derived = paths.length > 0 && reachesStores(found) ? Array.from(files.keys()).filter(isDropped) : [];
    for (const path of [...paths, ...derived]) changes.push({ kind: "remove", scope, path, bytes: 0 });
  }
  return { changes: [...changes, ...made], hidden };
}

/** A file of an entry. */
interface EntryFile extends ContentOrigin {
  readonly scope: ReadScope;
  readonly path: string;
}

/** Files by `placeIn`. */
type EntryFiles = ReadonlyMap<string, EntryFile>;

/** What a guest has read. */
interface Read {
  readonly files: EntryFiles;
  /** The scopes in which it has read a derived file, which can repeat any entry there. */
  readonly derivedIn: readonly ReadScope[];
}

interface Shown {
  readonly files: readonly EntryFile[];
  /** Whether a hidden entry can be among what is shown: from a derived file. */
  readonly canShowHidden: boolean;
}

async function readBy(
  found: CatalogTool,
  scopes: readonly ReadScope[],
  seen: readonly Omit<Seen, "stamp">[],
): Promise<Read> {
  const byName = new Map(scopes.map((scope) => [scope.scope, scope]));
  const derivedIn = new Set<ReadScope>();
  const files = seen.map(async ({ scope: name, path, digest }): Promise<[string, EntryFile][]> => {
    const scope = byName.get(name);
    if (scope === undefined || digest === null) return [];
    if (isDerivedFile(found.files, { scope: name, path })) derivedIn.add(scope);
    if (!isEntryFile(found.files, { scope: name, path })) return [];
    return [[scope.placeOf(path), { scope, path, ...(await scope.originOf(path, digest)) }]];
  });
  return { files: new Map((await Promise.all(files)).flat()), derivedIn: [...derivedIn] };
}

/**
 * The entries that an answer shows. Its plugin says which these are (`shows`, by `placeIn`; `null` if it has not said it).
 * That counts only if its guest can have got all of them from what it has read; otherwise the answer counts as one that shows
 * everything that it can have got. `hidden`: what its guest was not shown.
 */
async function shownBy(
  found: CatalogTool,
  read: Read,
  { shows, hidden }: { readonly shows: readonly string[] | null; readonly hidden: ReadonlySet<string> },
): Promise<Shown> {
  const named = shows && (await namedFiles(found, read, new Set(shows)));
  const files = named ?? (await everyFile(found, read, hidden));
  // Of shared stores, it was not shown the derived files either.
  if (hidden.size === 0 || reachesStores(found)) return { files, canShowHidden: false };
  const isRepeated = (place: string): boolean => read.derivedIn.some((scope) => scope.pathAt(place) !== null);
  const canShowHidden = named ? named.some((file) => hidden.has(placeOf(file))) : Array.from(hidden).some(isRepeated);
  return { files, canShowHidden: canShowHidden || !found.files.isDeclared };
}

/** `null` if the guest cannot have got one of them. */
async function namedFiles(found: CatalogTool, read: Read, shows: ReadonlySet<string>): Promise<EntryFile[] | null> {
  const places = [...shows];
  const others = places.filter((place) => !read.files.has(place));
  if (!others.every((place) => canBeRepeated(found, read, place))) return null;
  const repeated: EntryFiles = others.length === 0 ? new Map() : await repeatedFiles(found, read);
  // What is not there has no label, as have files of which no version knows, if they are the owner's.
  return places.map((place) => read.files.get(place) ?? repeated.get(place)).filter((file) => file !== undefined);
}

async function everyFile(found: CatalogTool, read: Read, hidden: ReadonlySet<string>): Promise<EntryFile[]> {
  const repeated = Array.from(await repeatedFiles(found, read));
  return [...new Map([...repeated.filter(([place]) => !hidden.has(place)), ...read.files]).values()];
}

const canBeRepeated = ({ files }: CatalogTool, { derivedIn }: Read, place: string): boolean =>
  derivedIn.some((scope) => {
    const path = scope.pathAt(place);
    return path !== null && isEntryFile(files, { scope: scope.scope, path });
  });

/** What the derived files can repeat. */
async function repeatedFiles({ files }: CatalogTool, { derivedIn }: Read): Promise<EntryFiles> {
  const all = new Map<string, EntryFile>();
  for (const scope of derivedIn) {
    for (const [path, origin] of await scope.files(false)) {
      if (isEntryFile(files, { scope: scope.scope, path })) all.set(scope.placeOf(path), { scope, path, ...origin });
    }
  }
  return all;
}

const placeOf = ({ scope, path }: EntryFile): string => scope.placeOf(path);

/** What programs are told of files, but for the user's own: the least trusted first, and of those the latest first. */
const originsOf = (files: readonly EntryFile[], { files: family }: CatalogTool): EntryOrigin[] =>
  files
    .filter(isTold)
    .map(({ scope: { scope, owner }, path, class: of, trust, atMs }) => {
      const at = atMs === null ? null : new Date(atMs).toISOString();
      return { scope, path, name: owner + (entryNameAt(family, { scope, path }) ?? path), class: of, trust, at };
    })
    .toSorted(byTrust);

/**
 * Nobody has told where an unstated entry comes from. In a memory of which nobody ever tells anything, that would be
 * said of every entry, and so distinguish none.
 */
const isTold = ({ scope, trust }: EntryFile): boolean =>
  !isUsersOwn(trust) && (trust !== "unstated" || scope.hasStated);

function byTrust(a: EntryOrigin, b: EntryOrigin): number {
  const lower = originClasses.indexOf(b.trust) - originClasses.indexOf(a.trust);
  return lower || (a.at === b.at ? 0 : (a.at ?? "") < (b.at ?? "") ? 1 : -1);
}
