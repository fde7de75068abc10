/** Plans what takes changes back in one part of a user's scopes. Only reads. */
import { isDerived } from "../../shared/derived-files.ts";
import { storeLimits } from "../../shared/limits.ts";
import { isScopePath, isTrashPath } from "../../shared/path.ts";
import { quoted } from "../../shared/text.ts";
import type { DerivedFiles } from "../store/engine.ts";
import { digestOf } from "../store/reading.ts";
import type { Version, VersionHead, VersionedFile } from "../store/versions/version.ts";
import { isOfEarlier } from "../store/versions/version.ts";
import { placeKey } from "../values/change-set.ts";
import type { Seen, SizedChange } from "../values/change-set.ts";
import { ToolError, reasonOf } from "../values/tool-error.ts";
import { freeTrashPath } from "../values/trash-path.ts";
import { inTurns } from "../values/turns.ts";
import type { Pieces } from "../values/turns.ts";
import { FilePlaces, livePlaces } from "./file-places.ts";
import { keptContent } from "./kept-content.ts";
import type { Operation } from "./operation.ts";
import { trashOf, trashPathOf } from "./trash.ts";
import type { BuiltOnFile, LeftFile } from "./undo-plan.ts";
import type { HeldPart } from "./user-scopes.ts";

/** What is asked of every part. */
export interface UndoTask {
  readonly isUndone: (version: Version) => boolean;
  readonly epochMs: number;
  /** Files whose former content their plugin cannot use, by `scope:path`, and why. */
  readonly unusable: ReadonlyMap<string, string>;
}

/** What happens to one file. Paths are inside the scope. */
export interface UndoneFile {
  readonly scope: string;
  readonly path: string;
  readonly outcome: "restored" | "trashed";
  /** Whether there is no file now. */
  readonly isMissing: boolean;
  /** Whether the changes have removed it and made it again. */
  readonly isRemade: boolean;
  readonly changes: readonly SizedChange[];
}

export interface UndonePart {
  readonly files: readonly UndoneFile[];
  readonly builtOn: readonly BuiltOnFile[];
  readonly left: readonly LeftFile[];
  readonly seen: readonly Seen[];
  readonly head: VersionHead;
  /** Whether any version is one of the changes, undone or not. */
  readonly isKnown: boolean;
  /** There is more to do than one change set holds. */
  readonly isMore: boolean;
  /** The removals of derived files that nothing is left of. */
  readonly gone: readonly SizedChange[];
}

/** At most so much is done in one change set. What plugins make of it needs room, too. */
const [changesMax, bytesMax] = [storeLimits.changesMax - 500, storeLimits.scopeBytesMax / 2] as const;

export async function planUndone(operation: Operation, part: HeldPart, task: UndoTask): Promise<UndonePart> {
  const { history } = part.held;
  const versions = await history.versions();
  const all = await inTurns(fileChains(versions, task.isUndone));
  const chains = all.filter(({ scope }) => !part.hidden.includes(scope));
  const planner = new PartPlanner(operation, part, { ...task, chains });
  for (const chain of chains) await planner.look(chain);
  await planner.putBackAll();
  const { result } = planner;
  const gone = result.isMore ? [] : await goneDerived(operation, part, { chains, files: result.files });
  return { ...result, gone, head: history.state().head, isKnown: versions.some(task.isUndone) };
}

/** A file that goes back to a content. */
interface Goal extends Pick<UndoneFile, "scope" | "path" | "isRemade"> {
  readonly bytes: Uint8Array | null;
  readonly sha256: string;
}

class PartPlanner {
  readonly #operation: Operation;
  readonly #part: HeldPart;
  readonly #task: UndoTask & { readonly chains: readonly FileChain[] };
  readonly #derived: DerivedFiles;
  readonly #files: UndoneFile[] = [];
  readonly #builtOn: BuiltOnFile[] = [];
  readonly #left: LeftFile[] = [];
  readonly #goals: Goal[] = [];
  /** Files in the trash that the changes have moved there, by where they were. */
  readonly #trashedFrom = new Map<string, readonly FileChain[]>();
  /** The trash of each scope, with what the plan adds. */
  readonly #trashes = new Map<string, FilePlaces>();
  /** What the history has of the contents that files go back to. */
  #kept: ReadonlyMap<string, Uint8Array> = new Map();
  #sum = { changes: 0, bytes: 0 };
  #isMore = false;

  constructor(operation: Operation, part: HeldPart, task: UndoTask & { readonly chains: readonly FileChain[] }) {
    this.#operation = operation;
    this.#part = part;
    this.#task = task;
    this.#derived = operation.tools.derivedFiles;
    for (const chain of task.chains) {
      const last = chain.links.at(-1);
      if (!isTrashPath(chain.path) || !last?.isUndone || last.from === undefined) continue;
      const key = placeKey({ scope: chain.scope, path: last.from });
      this.#trashedFrom.set(key, [...(this.#trashedFrom.get(key) ?? []), chain]);
    }
  }

  /** Plans the file if nothing came after the changes. Notes what was built on them. */
  async look(chain: FileChain): Promise<void> {
    const { scope, path } = chain;
    const { tools } = this.#operation;
    // What is in the trash is where a file of the changes goes.
    if (isTrashPath(path) || (this.#isMade(scope) && isDerived(path, this.#derived.get(scope) ?? []))) return;
    const { present, before, isRemade, builtOn } = beforeChanges(chain);
    const bytes = await this.#read(scope, path);
    if (bytes instanceof ToolError) return this.#leave(scope, path, reasonOf(bytes));
    const sha256 = digestOf(bytes);
    // Somebody has edited it by hand since. What somebody has removed by hand stays removed.
    const isEdited = sha256 !== present && sha256 !== null && sha256 !== before;
    if (builtOn.length > 0 || (isEdited && before !== undefined)) {
      this.#builtOn.push({ path: `${scope}/${path}`, versions: builtOn });
    }
    if (sha256 !== present || before === undefined || before === present) return;
    if (!tools.hasScope(scope)) return this.#leave(scope, "", "no loaded plugin has this scope");
    const unusable = this.#task.unusable.get(placeKey({ scope, path }));
    if (unusable !== undefined) this.#leave(scope, path, unusable);
    if (before !== null && unusable === undefined) this.#goals.push({ scope, path, bytes, isRemade, sha256: before });
    else if (bytes !== null) await this.#trash({ scope, path }, bytes.length);
  }

  /** After `look` for all files, when it is known which make room. */
  async putBackAll(): Promise<void> {
    const places = new Map<string, FilePlaces>();
    const making = new Set(this.#files.map(placeKey));
    this.#kept = await this.#part.held.history.contentsOf(this.#goals.map(({ sha256 }) => sha256));
    for (const goal of this.#goals) {
      const { scope, path, bytes } = goal;
      const live = places.get(scope) ?? (await livePlaces(this.#part.held, scope));
      places.set(scope, live);
      const other = bytes === null ? live.inTheWayOf(path) : null;
      if (other !== null && making.has(placeKey({ scope, path: other }))) this.#later(goal);
      else if (other !== null) this.#leave(scope, path, `${quoted(other)} is in its place`);
      else await this.#putBack(goal);
    }
  }

  get result(): Omit<UndonePart, "head" | "isKnown" | "gone"> {
    const { seen } = this.#part.held;
    return {
      files: this.#files,
      builtOn: this.#builtOn,
      left: this.#left,
      seen,
      isMore: this.#isMore,
    };
  }

  /** What is in its place goes with this change set. */
  #later({ scope, path, isRemade }: Goal): void {
    this.#files.push({ scope, path, isRemade, outcome: "restored", isMissing: true, changes: [] });
    this.#isMore = true;
  }

  async #putBack({ scope, path, bytes, isRemade, sha256 }: Goal): Promise<void> {
    const trashed = await this.#trashedBy(scope, path, sha256);
    const content = trashed?.bytes ?? (await keptContent(this.#part.held, sha256, this.#kept));
    if (content === null) return this.#leave(scope, path, "the content that it had before is no longer kept");
    const write = { kind: "write", scope, path, content, bytes: content.length } as const;
    const changes = ((): SizedChange[] => {
      if (trashed === null) return [write];
      const from = { scope, path: trashed.path, bytes: content.length };
      if (bytes === null) return [{ kind: "restore", ...from, restored: path }];
      return [write, { kind: "remove", ...from }];
    })();
    this.#add({ scope, path, isRemade, outcome: "restored", isMissing: bytes === null, changes });
  }

  async #trash({ scope, path }: Pick<Goal, "scope" | "path">, bytes: number): Promise<void> {
    const trash = this.#trashes.get(scope) ?? (await this.#trashPlaces(scope));
    this.#trashes.set(scope, trash);
    const trashed = freeTrashPath(path, this.#task.epochMs, (each) => trash.inTheWayOf(each) !== null);
    if (!isScopePath(trashed)) return this.#leave(scope, path, "its name would be too long in the trash");
    trash.add(trashed);
    const changes: SizedChange[] = [{ kind: "trash", scope, path, trashed, bytes }];
    this.#add({ scope, path, outcome: "trashed", isMissing: false, isRemade: false, changes });
  }

  /** What does not fit is listed, and done in another change set. */
  #add(file: UndoneFile): void {
    const { changes, bytes } = this.#sum;
    const added = file.changes.reduce((sum, each) => sum + each.bytes, 0);
    this.#sum = { changes: changes + file.changes.length, bytes: bytes + added };
    const fits = this.#sum.changes <= changesMax && (this.#sum.bytes <= bytesMax || changes === 0);
    this.#isMore ||= !fits;
    this.#files.push(fits ? file : { ...file, changes: [] });
  }

  /** The file in the trash that the changes have moved there from a path, if it is still as they have left it. */
  async #trashedBy(
    scope: string,
    path: string,
    sha256: string,
  ): Promise<{ readonly path: string; readonly bytes: Uint8Array } | null> {
    for (const chain of this.#trashedFrom.get(placeKey({ scope, path })) ?? []) {
      if (chain.links.at(-1)?.sha256 !== sha256) continue;
      const bytes = await this.#read(scope, chain.path);
      if (bytes instanceof Uint8Array && digestOf(bytes) === sha256) return { path: chain.path, bytes };
    }
    return null;
  }

  async #read(scope: string, path: string): Promise<Uint8Array | ToolError | null> {
    try {
      return await this.#part.held.bytesOf(scope, path);
    } catch (error) {
      if (error instanceof ToolError && error.code === "STORAGE_UNSAFE") return error;
      throw error;
    }
  }

  async #trashPlaces(scope: string): Promise<FilePlaces> {
    return new FilePlaces((await trashOf(this.#part.held, scope)).map(trashPathOf));
  }

  /** Whether a plugin makes the derived files of a scope anew. Otherwise they go back as the others do. */
  #isMade(scope: string): boolean {
    return this.#operation.tools.forScope("inspect", scope) !== null;
  }

  #leave(scope: string, path: string, reason: string): void {
    this.#left.push({ path: path === "" ? scope : `${scope}/${path}`, reason });
  }
}

/**
 * Removes what plugins have made of the changes that are undone, where nothing else is left: an index that nobody had
 * before them would stay as an empty file. Nothing that others have written is in such a file.
 */
async function goneDerived(
  operation: Operation,
  { held }: HeldPart,
  { chains, files }: { readonly chains: readonly FileChain[]; readonly files: readonly UndoneFile[] },
): Promise<SizedChange[]> {
  const { derivedFiles } = operation.tools;
  const removals: SizedChange[] = [];
  for (const scope of new Set(files.map((file) => file.scope))) {
    const ofScope = files.filter((file) => file.scope === scope);
    const trashed = new Set(ofScope.filter(({ outcome }) => outcome === "trashed").map(({ path }) => path));
    const left = (await held.list(scope, "")).map(({ path }) => path).filter((path) => !trashed.has(path));
    const isMade = (path: string): boolean => isDerived(path, derivedFiles.get(scope) ?? []);
    if (trashed.size < ofScope.length || !left.every(isMade)) continue;
    const made = chains.filter((chain) => chain.scope === scope && left.includes(chain.path));
    const own: SizedChange[] = [];
    for (const chain of made) {
      const { path } = chain;
      const { before, present, builtOn } = beforeChanges(chain);
      const bytes = await held.bytesOf(scope, path);
      if (before !== null || builtOn.length > 0 || bytes === null || digestOf(bytes) !== present) continue;
      own.push({ kind: "remove", scope, path, bytes: bytes.length });
    }
    if (own.length === left.length) removals.push(...own);
  }
  return removals;
}

/** One version of one file. */
interface Link extends VersionedFile {
  readonly seq: number;
  /** Whether it is one of the changes that are undone. */
  readonly isUndone: boolean;
  /** Whether its content is one of theirs, or was built on one. */
  readonly follows: boolean;
}

/** A file and its versions, the oldest first, without those that a later one has set back. */
interface FileChain {
  readonly scope: string;
  readonly path: string;
  readonly links: readonly Link[];
}

/** What a file was before the changes, and what has been built on them. */
interface FileBefore {
  /** SHA-256 of what the last version has left; `null` if there is no file. */
  readonly present: string | null;
  /** The content before the changes, `null` if there was no file; `undefined` if none of them is the last version. */
  readonly before: string | null | undefined;
  /** Whether they have removed the file, and made it again. */
  readonly isRemade: boolean;
  /** The versions that others have built on them. */
  readonly builtOn: readonly number[];
}

/**
 * The chains of all files that the changes have touched, also under a later name. A version that sets a file back to an
 * earlier content takes away what came between: so the same undo finds nothing the next time, and an earlier origin can
 * still be undone after a later one.
 */
function* fileChains(versions: readonly Version[], isUndone: (version: Version) => boolean): Pieces<FileChain[]> {
  const chains = new Map<string, FileChain & { readonly links: Link[] }>();
  for (const version of versions) {
    yield;
    const { seq, kind, files } = version;
    const isOne = !isOfEarlier(kind) && isUndone(version);
    const moved = new Set(
      files.filter(({ scope, from }) => from !== undefined && follows(chains.get(placeKey({ scope, path: from })))),
    );
    for (const file of files) {
      const { scope, path, sha256, before, from } = file;
      const chain = chains.get(placeKey(file)) ?? { scope, path, links: [] };
      chains.set(placeKey(file), chain);
      if (isOfEarlier(kind) && setBack(chain.links, sha256)) continue;
      const followsOther = from === undefined ? before !== null && follows(chain) : moved.has(file);
      chain.links.push({ ...file, seq, isUndone: isOne, follows: sha256 !== null && (isOne || followsOther) });
    }
  }
  return Array.from(chains.values()).filter((chain) => follows(chain) || chain.links.some((link) => link.isUndone));
}

const follows = (chain: FileChain | undefined): boolean => chain?.links.at(-1)?.follows === true;

/** Drops the links after the last one that has left this content. Returns `false` if there was none. */
function setBack(links: Link[], sha256: string | null): boolean {
  const at = links.findLastIndex((link) => link.sha256 === sha256);
  if (at < 0 && links[0]?.before !== sha256) return false;
  links.length = at + 1;
  return true;
}

function beforeChanges({ links }: FileChain): FileBefore {
  const kept = links.findLastIndex((link) => !link.isUndone) + 1;
  const others = links.slice(0, kept);
  const free = others.findLastIndex((link) => link.isUndone || !link.follows) + 1;
  const present = links.at(-1)?.sha256 ?? null;
  return {
    present,
    before: links[kept]?.before,
    isRemade: present !== null && links.slice(kept).some(({ sha256 }) => sha256 === null),
    builtOn: others.slice(free).map(({ seq }) => seq),
  };
}
