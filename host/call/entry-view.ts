/** What a call's guest is shown of the entries, and what its caller is told of those that its answer shows. */
import { placeIn } from "../../shared/abi.ts";
import { shownPath } from "../../shared/encoded-name.ts";
import { isUsersOwn } from "../../shared/entry-origin.ts";
import type { EntryOrigin } from "../../shared/entry-origin.ts";
import type { Envelope } from "../../shared/envelope.ts";
import { isAtLeast, originClasses } from "../../shared/origin.ts";
import { entryNameAt, isDerivedFile, isEntryFile, reachesStores, showsEntries } from "../plugins/tools.ts";
import type { CatalogTool } from "../plugins/tools.ts";
import type { HeldHome } from "../store/held-homes.ts";
import { StaleCall } from "../store/plan-changes.ts";
import { digestOf } from "../store/reading.ts";
import { ContentOrigins } from "../store/versions/present-origins.ts";
import type { ContentOrigin, HeldHistory } from "../store/versions/present-origins.ts";
import type { WorkerReply } from "../thread/worker.ts";
import type { Seen, SizedChange } from "../values/change-set.ts";
import { scopeOfStore } from "../values/ids.ts";
import type { DecidedStores } from "../values/store-grant.ts";
import type { ToolSuccess } from "../values/tool-result.ts";
import type { CallOptions, EntryView } from "./asked-call.ts";

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

/**
 * An answer as the caller gets it, with where the entries come from that it shows. Its plugin says which these are (`shows`, by
 * `placeIn`; `null` if it has not said it). That counts only if its guest can have got all of them from what it has read;
 * otherwise the answer counts as one that shows everything that it can have got. Throws `StaleCall` if the guest has read what
 * it was not to see.
 */
export async function withOrigins(
  answer: Extract<Envelope, { ok: true }>,
  { seen, shows }: Pick<WorkerReply, "seen" | "shows">,
  { found, scopes, view, hidden, isTold }: SeenEntries,
): Promise<ToolSuccess> {
  if (view === null && !isTold) return answer;
  const made = (view?.made ?? []).map(({ scope, path }) => ({ scope, path, digest: "made" }));
  const { read, derivedIn } = await readBy(found, scopes, [...seen, ...made]);
  // Somebody has just moved it there by hand.
  if (view !== null && Array.from(read.values()).some(({ trust }) => !isAtLeast(trust, view.least)))
    throw new StaleCall();
  const isRepeated = (place: string): boolean => derivedIn.some((scope) => scope.hasEntry(found, place));
  const named = shows?.every((place) => read.has(place) || isRepeated(place)) === true ? [...new Set(shows)] : null;
  const isRead = named?.every((place) => read.has(place)) === true;
  const all = new Map([...(isRead ? [] : await repeatedFiles(found, derivedIn)), ...read]);
  // What is not there has no label, as have files of which no version knows, if they are the owner's.
  const places =
    named?.filter((place) => all.has(place)) ?? [...all.keys()].filter((at) => read.has(at) || !hidden.has(at));
  if (view?.tells) {
    const canShow = named === null ? Array.from(hidden).some(isRepeated) : places.some((place) => hidden.has(place));
    // Of shared stores, it was not shown the derived files either.
    view.tells(hidden.size > 0 && !reachesStores(found) && (canShow || !found.files.isDeclared));
  }
  const files = places.flatMap((place) => all.get(place) ?? []);
  const origins = isTold ? originsOf(files, found) : [];
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

/** The entries that a guest has read, by `placeIn`, and the scopes in which it has read a file that can repeat any of them. */
async function readBy(
  found: CatalogTool,
  scopes: readonly ReadScope[],
  seen: readonly Omit<Seen, "stamp">[],
): Promise<{ readonly read: ReadonlyMap<string, EntryFile>; readonly derivedIn: readonly ReadScope[] }> {
  const byName = new Map(scopes.map((scope) => [scope.scope, scope]));
  const derivedIn = new Set<ReadScope>();
  const files = seen.map(async ({ scope: name, path, digest }): Promise<[string, EntryFile][]> => {
    const scope = byName.get(name);
    if (scope === undefined || digest === null) return [];
    if (isDerivedFile(found.files, { scope: name, path })) derivedIn.add(scope);
    if (!isEntryFile(found.files, { scope: name, path })) return [];
    return [[scope.placeOf(path), { scope, path, ...(await scope.originOf(path, digest)) }]];
  });
  return { read: new Map((await Promise.all(files)).flat()), derivedIn: [...derivedIn] };
}

/** What the derived files can repeat. */
async function repeatedFiles(
  { files }: CatalogTool,
  derivedIn: readonly ReadScope[],
): Promise<ReadonlyMap<string, EntryFile>> {
  const all = new Map<string, EntryFile>();
  for (const scope of derivedIn) {
    for (const [path, origin] of await scope.files(false)) {
      if (isEntryFile(files, { scope: scope.scope, path })) all.set(scope.placeOf(path), { scope, path, ...origin });
    }
  }
  return all;
}

/** What programs are told of files, but for the user's own: the least trusted first, and of those the latest first. */
const originsOf = (files: readonly EntryFile[], { files: family }: CatalogTool): EntryOrigin[] =>
  files
    .filter(isTold)
    .map(({ scope: { scope, owner }, path, class: of, trust, atMs }) => {
      const at = atMs === null ? null : new Date(atMs).toISOString();
      const name = owner + (entryNameAt(family, { scope, path }) ?? shownPath(path));
      return { scope, path, name, class: of, trust, at };
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

/** The scopes that a call's guest can read: those of its tool in a user's home, or the shared stores that the caller reaches. */
export function readScopes(home: HeldHome, ofTool: readonly string[], decided: DecidedStores | null): ReadScope[] {
  const reached = decided?.stores.filter(({ level }) => level !== null);
  const ofStores = reached?.map(({ id }) => ({ scope: scopeOfStore(id), owner: id === decided?.own ? "" : `${id}/` }));
  const named = ofStores ?? ofTool.map((scope) => ({ scope, owner: "" }));
  return named.map(({ scope, owner }) => {
    const reader = home.withScope(scope);
    return new ReadScope({ scope, history: reader.history, reader, owner });
  });
}

interface ReadScopeParts {
  readonly scope: string;
  readonly history: HeldHistory;
  readonly reader: Pick<HeldHome, "list" | "bytesOf">;
  /** What stands before the names of its entries: nothing, or another's store. */
  readonly owner: string;
}

/** A scope that a call reads, with what its history says of the files. Valid as long as it is held. */
export class ReadScope {
  readonly scope: string;
  readonly owner: string;
  readonly #history: HeldHistory;
  readonly #reader: ReadScopeParts["reader"];
  readonly #origins: ContentOrigins;

  constructor({ scope, history, reader, owner }: ReadScopeParts) {
    this.scope = scope;
    this.owner = owner;
    this.#history = history;
    this.#reader = reader;
    this.#origins = new ContentOrigins(history);
  }

  /** What an answer's `shows` calls a file. */
  placeOf(path: string): string {
    return placeIn(this.scope, path);
  }

  /** Whether an entry can be at that place. */
  hasEntry({ files }: CatalogTool, place: string): boolean {
    const { scope } = this;
    const before = this.placeOf("");
    return place.startsWith(before) && isEntryFile(files, { scope, path: place.slice(before.length) });
  }

  /** Whether anybody has said of any file where it comes from. */
  get hasStated(): boolean {
    return this.#history.state().hasStated;
  }

  /** `digest`: of the present content; `null` if it was not looked at. */
  originOf(path: string, digest: string | null): Promise<ContentOrigin> {
    return this.#origins.of(this.scope, path, digest);
  }

  /**
   * All files by path, without those of which no version knows, if they are the owner's. Looks at the disk only for what
   * the history cannot say. `isSure`: also reads files that no version knows, which can have been moved there by hand.
   */
  async files(isSure: boolean): Promise<ReadonlyMap<string, ContentOrigin>> {
    if (!isSure && this.#history.state().unknown === "owner_edit") return await this.#recorded();
    const { isBroken } = this.#history.state();
    const found = new Map<string, ContentOrigin>();
    for (const { path } of await this.#reader.list(this.scope, "")) {
      const isKnown = (await this.#history.originOf(this.scope, path)) !== null;
      const reads = isBroken || (isSure && !isKnown);
      const digest = reads ? digestOf(await this.#reader.bytesOf(this.scope, path)) : null;
      found.set(path, await this.originOf(path, digest));
    }
    return found;
  }

  async #recorded(): Promise<ReadonlyMap<string, ContentOrigin>> {
    const before = `${this.scope}:`;
    const all = Array.from(await this.#history.origins());
    const own = all.filter(([place]) => place.startsWith(before));
    return new Map(own.map(([place, origin]) => [place.slice(before.length), origin]));
  }
}
