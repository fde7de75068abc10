/** Plans what takes changes back in one part of a user's scopes, with what the plugins make of it. Changes nothing. */
import { isDerived } from "../../shared/derived-files.ts";
import { storeLimits } from "../../shared/limits.ts";
import { isScopePath, isTrashPath } from "../../shared/path.ts";
import type { RefusedPath } from "../../shared/roles.ts";
import { quoted } from "../../shared/text.ts";
import type { HeldHome } from "../store/held-homes.ts";
import { digestOf } from "../store/reading.ts";
import type { Version } from "../store/versions/version.ts";
import { placeKey } from "../values/change-set.ts";
import type { Place, Seen, SizedChange } from "../values/change-set.ts";
import { ToolError, asToolError, reasonOf } from "../values/tool-error.ts";
import { freeTrashPath } from "../values/trash-path.ts";
import { inTurns } from "../values/turns.ts";
import { derivedChanges } from "./derived-changes.ts";
import type { FilePlaces } from "./file-places.ts";
import { placesIn } from "./file-places.ts";
import { keptContent } from "./kept-content.ts";
import { endingCodes } from "./operate.ts";
import type { Operation } from "./operation.ts";
import { planFrom, withMade } from "./plan.ts";
import type { Plan } from "./plan.ts";
import { touchedFiles } from "./touched-files.ts";
import type { TouchedFile } from "./touched-files.ts";
import type { BuiltOnFile, LeftFile } from "./undo-plan.ts";
import { holdPart } from "./user-scopes.ts";
import type { HeldPart } from "./user-scopes.ts";

/** What is undone in one part. */
export interface UndoTask {
  readonly part: readonly string[];
  readonly isUndone: (version: Version) => boolean;
  readonly epochMs: number;
}

/** What happens to one file. Paths are inside the scope. */
export interface UndoneFile extends Place {
  readonly outcome: "restored" | "trashed";
  /** Whether there is no file now. */
  readonly isMissing: boolean;
  /** Whether the changes have removed it and made it again. */
  readonly isRemade: boolean;
  /** None if another change set has to make them. */
  readonly changes: readonly SizedChange[];
}

export interface UndonePart extends Plan {
  readonly files: readonly UndoneFile[];
  /** The files that plugins make anew, with their scopes. */
  readonly derived: readonly string[];
  readonly builtOn: readonly BuiltOnFile[];
  readonly left: readonly LeftFile[];
  /** Whether any version is one of the changes, undone or not. */
  readonly isKnown: boolean;
  /** There is more to do than one change set holds. */
  readonly isMore: boolean;
}

/** At most so much is done in one change set. What plugins make of it needs room, too. */
const [changesMax, bytesMax] = [storeLimits.changesMax - 500, storeLimits.scopeBytesMax / 2] as const;

export async function planPart(operation: Operation, task: UndoTask): Promise<UndonePart> {
  const unusable = new Map<string, string>();
  for (;;) {
    const { gone, ...part } = await holdPart(operation, { part: task.part, mode: "read" }, (held) =>
      planFiles(operation, held, { ...task, unusable }),
    );
    const made = await madeOf(operation, part.files);
    for (const [file, reason] of made.unusable) unusable.set(file, reason);
    // Without these files, the plugins' answers are others.
    if (made.unusable.length > 0) continue;
    const goes = new Set(gone.map(placeKey));
    const changes = [...made.changes.filter((change) => !goes.has(placeKey(change))), ...gone];
    const derived = changes.filter(({ path }) => !isTrashPath(path)).map(({ scope, path }) => `${scope}/${path}`);
    return { ...withMade(part, { changes, seen: made.seen }), derived, left: [...part.left, ...made.left] };
  }
}

/** `gone`: the removals of derived files that nothing is left of. */
async function planFiles(
  operation: Operation,
  { held, hidden }: HeldPart,
  task: UndoTask & Pick<Ground, "unusable">,
): Promise<Omit<UndonePart, "derived"> & { readonly gone: readonly SizedChange[] }> {
  const versions = await held.history.versions();
  const all = await inTurns(touchedFiles(versions, task.isUndone));
  const touched = all.filter(({ scope }) => !hidden.includes(scope));
  const planner = new PartPlanner({ ...task, operation, held, touched });
  for (const file of touched) await planner.look(file);
  await planner.putBackAll();
  const gone = await planner.goneDerived();
  const { files, builtOn, left, isMore } = planner;
  const plan = planFrom(
    held,
    files.flatMap(({ changes }) => changes),
  );
  return { ...plan, files, builtOn, left, isMore, gone, isKnown: versions.some(task.isUndone) };
}

/** What the plan of a part is made from. */
interface Ground extends Pick<UndoTask, "epochMs"> {
  readonly operation: Operation;
  readonly held: HeldHome;
  readonly touched: readonly TouchedFile[];
  /** Files whose former content their plugin cannot use, by `placeKey`, and why. */
  readonly unusable: ReadonlyMap<string, string>;
}

/** A file that goes back to a content. */
interface Goal extends Pick<UndoneFile, "scope" | "path" | "isMissing" | "isRemade"> {
  readonly sha256: string;
}

class PartPlanner {
  readonly files: UndoneFile[] = [];
  readonly builtOn: BuiltOnFile[] = [];
  readonly left: LeftFile[] = [];
  isMore = false;
  readonly #ground: Ground;
  readonly #goals: Goal[] = [];
  /** Files in the trash that the changes have moved there, by where they were, and by their content. */
  readonly #trashedFrom: ReadonlyMap<string, string>;
  /** What only the changes have had made from files, each as its removal. */
  readonly #derived: SizedChange[] = [];
  /** Of each scope, with what the plan adds. */
  readonly #places = new Map<string, FilePlaces>();
  readonly #sum = { changes: 0, bytes: 0 };

  constructor(ground: Ground) {
    this.#ground = ground;
    const trashed = ground.touched.filter(({ path, from }) => isTrashPath(path) && from !== undefined);
    this.#trashedFrom = new Map(
      trashed.map(({ scope, path, from = "", present }) => [`${placeKey({ scope, path: from })}:${present}`, path]),
    );
  }

  /** Plans the file if nothing came after the changes. Notes what was built on them. */
  async look({ scope, path, present, before, isRemade, builtOn }: TouchedFile): Promise<void> {
    const { tools } = this.#ground.operation;
    // What is in the trash is where a file of the changes goes.
    if (isTrashPath(path)) return;
    // Without a plugin that makes it anew, a derived file goes back as the others do.
    const isMade = tools.forScope("inspect", scope) !== null && isDerived(path, tools.derivedFiles.get(scope) ?? []);
    const bytes = await this.#read(scope, path);
    if (bytes instanceof ToolError) return isMade ? undefined : this.#leave(scope, path, reasonOf(bytes));
    const sha256 = digestOf(bytes);
    if (isMade) {
      const isOnlyTheirs = before === null && builtOn.length === 0 && bytes !== null && sha256 === present;
      if (isOnlyTheirs) this.#derived.push({ kind: "remove", scope, path, bytes: bytes.length });
      return;
    }
    // Somebody has edited it by hand since. What somebody has removed by hand stays removed.
    const isEdited = sha256 !== present && sha256 !== null && sha256 !== before;
    if (builtOn.length > 0 || (isEdited && before !== undefined)) {
      this.builtOn.push({ path: `${scope}/${path}`, versions: builtOn });
    }
    if (sha256 !== present || before === undefined || before === present) return;
    if (!tools.hasScope(scope)) return this.#leave(scope, "", "no loaded plugin has this scope");
    const unusable = this.#ground.unusable.get(placeKey({ scope, path }));
    if (unusable !== undefined) this.#leave(scope, path, unusable);
    const isMissing = bytes === null;
    if (before !== null && unusable === undefined)
      this.#goals.push({ scope, path, isMissing, isRemade, sha256: before });
    else if (bytes !== null) await this.#trash({ scope, path }, bytes.length);
  }

  /** After `look` for all files, when it is known which make room. */
  async putBackAll(): Promise<void> {
    const making = new Set(this.files.map(placeKey));
    // All contents at once: each look into the history reads all of it.
    const kept = await this.#ground.held.history.contentsOf(this.#goals.map(({ sha256 }) => sha256));
    for (const goal of this.#goals) {
      const { scope, path, isMissing } = goal;
      const other = isMissing ? (await this.#placesIn(scope)).inTheWayOf(path) : null;
      if (other === null) await this.#putBack(goal, kept);
      else if (!making.has(placeKey({ scope, path: other })))
        this.#leave(scope, path, `${quoted(other)} is in its place`);
      else {
        // What is in its place goes with this change set.
        this.files.push({ ...goal, outcome: "restored", changes: [] });
        this.isMore = true;
      }
    }
  }

  /**
   * Removes what plugins have made of the changes that are undone, where nothing else is left: an index that nobody had
   * before them would stay as an empty file. Nothing that others have written is in such a file.
   */
  async goneDerived(): Promise<SizedChange[]> {
    const gone: SizedChange[] = [];
    for (const scope of this.isMore ? [] : new Set(this.files.map((file) => file.scope))) {
      const ofScope = this.files.filter((file) => file.scope === scope);
      if (ofScope.some(({ outcome }) => outcome === "restored")) continue;
      const derived = this.#derived.filter((change) => change.scope === scope);
      const going = new Set([...ofScope, ...derived].map(({ path }) => path));
      const present = await this.#ground.held.list(scope, "");
      if (present.every(({ path }) => going.has(path))) gone.push(...derived);
    }
    return gone;
  }

  async #putBack(
    { scope, path, isMissing, isRemade, sha256 }: Goal,
    kept: ReadonlyMap<string, Uint8Array>,
  ): Promise<void> {
    const { held } = this.#ground;
    const trashed = this.#trashedFrom.get(`${placeKey({ scope, path })}:${sha256}`);
    const inTrash = trashed === undefined ? null : await this.#read(scope, trashed);
    // It counts only as the changes have left it.
    const isThere = inTrash instanceof Uint8Array && digestOf(inTrash) === sha256;
    const content = isThere ? inTrash : await keptContent(held, sha256, kept);
    if (content === null) return this.#leave(scope, path, "the content that it had before is no longer kept");
    const write = { kind: "write", scope, path, content, bytes: content.length } as const;
    const from = isThere && trashed !== undefined ? { scope, path: trashed, bytes: content.length } : null;
    const changes = ((): SizedChange[] => {
      if (from === null) return [write];
      return isMissing ? [{ kind: "restore", ...from, restored: path }] : [write, { kind: "remove", ...from }];
    })();
    this.#add({ scope, path, isRemade, outcome: "restored", isMissing, changes });
  }

  async #trash({ scope, path }: Place, bytes: number): Promise<void> {
    const places = await this.#placesIn(scope);
    const trashed = freeTrashPath(path, this.#ground.epochMs, (each) => places.inTheWayOf(each) !== null);
    if (!isScopePath(trashed)) return this.#leave(scope, path, "its name would be too long in the trash");
    places.add(trashed);
    const changes: SizedChange[] = [{ kind: "trash", scope, path, trashed, bytes }];
    this.#add({ scope, path, outcome: "trashed", isMissing: false, isRemade: false, changes });
  }

  /** What does not fit is listed, and done in another change set. */
  #add(file: UndoneFile): void {
    const isFirst = this.#sum.changes === 0;
    this.#sum.changes += file.changes.length;
    for (const { bytes } of file.changes) this.#sum.bytes += bytes;
    const fits = this.#sum.changes <= changesMax && (this.#sum.bytes <= bytesMax || isFirst);
    this.isMore ||= !fits;
    this.files.push(fits ? file : { ...file, changes: [] });
  }

  async #read(scope: string, path: string): Promise<Uint8Array | ToolError | null> {
    try {
      return await this.#ground.held.bytesOf(scope, path);
    } catch (error) {
      if (error instanceof ToolError && error.code === "STORAGE_UNSAFE") return error;
      throw error;
    }
  }

  async #placesIn(scope: string): Promise<FilePlaces> {
    const places = this.#places.get(scope) ?? (await placesIn(this.#ground.held, scope));
    this.#places.set(scope, places);
    return places;
  }

  #leave(scope: string, path: string, reason: string): void {
    this.left.push({ path: path === "" ? scope : `${scope}/${path}`, reason });
  }
}

interface Made {
  readonly changes: SizedChange[];
  readonly seen: Seen[];
  readonly left: LeftFile[];
  /** Files that cannot be put back, by `placeKey`, and why. */
  readonly unusable: (readonly [file: string, reason: string])[];
}

/** What the plugin of each scope makes anew. One that fails keeps nobody from an undo: its files are mended later. */
async function madeOf(operation: Operation, files: readonly UndoneFile[]): Promise<Made> {
  const made: Made = { changes: [], seen: [], left: [], unusable: [] };
  const now = files.filter(({ changes }) => changes.length > 0);
  for (const scope of new Set(now.map((file) => file.scope))) {
    const own = now.filter((file) => file.scope === scope);
    const changes = own.flatMap((file) => file.changes);
    const [paths, remadePaths] = [own, own.filter(({ isRemade }) => isRemade)].map((some) =>
      some.map(({ path }) => path),
    );
    try {
      // What it writes is needed although the scope may be full: the owner is about to make it right.
      const ofScope = { scope, changes, paths: paths ?? [], remadePaths, freedBytes: storeLimits.scopeBytesMax };
      const { refused, ...derived } = await derivedChanges(operation, ofScope);
      made.changes.push(...derived.changes);
      made.seen.push(...derived.seen);
      for (const each of refused) noteRefused(made, own, each);
    } catch (error) {
      const failure = asToolError(error, operation.action);
      if (endingCodes.has(failure.code)) throw failure;
      made.left.push({
        path: scope,
        reason: `its plugin could not make its index anew, the doctor can: ${reasonOf(failure)}`,
      });
    }
  }
  return made;
}

/** A refusal of all files together is one of those that would come in addition. */
function noteRefused(made: Made, own: readonly UndoneFile[], { path, reason }: RefusedPath): void {
  const refused = own.filter(
    (file) => file.outcome === "restored" && (path === "" ? file.isMissing : file.path === path),
  );
  for (const file of refused) made.unusable.push([placeKey(file), `its plugin refuses what it was before: ${reason}`]);
  if (refused.length > 0) return;
  made.left.push({ path: own[0]?.scope ?? "", reason: `its plugin could not make its index anew: ${reason}` });
}
