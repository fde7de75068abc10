/** Plans what takes changes back in one part of a user's scopes, with what the plugins make of it. Changes nothing. */
import { storeLimits } from "../../shared/limits.ts";
import { isScopePath, isTrashPath } from "../../shared/path.ts";
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
import { endingCodes, ifUnsafe } from "./operate.ts";
import type { Operation } from "./operation.ts";
import { planFrom, withMade } from "./plan.ts";
import type { MadeChanges, Plan } from "./plan.ts";
import { touchedFiles } from "./touched-files.ts";
import type { TouchedFile } from "./touched-files.ts";
import type { BuiltOnFile, LeftFile } from "./undo-plan.ts";
import { partOf } from "./user-scopes.ts";
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
    const { gone, ...part } = await operation.hold("read", task.part, async (held) =>
      planFiles(operation, await partOf(operation, task.part, held), { ...task, unusable }),
    );
    const before = unusable.size;
    const made = await madeOf(operation, part.files, unusable);
    // Without these files, the plugins' answers are others.
    if (unusable.size > before) continue;
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
  const planner = new PartPlanner({ ...task, operation, held });
  for (const file of await inTurns(touchedFiles(versions, task.isUndone))) {
    if (!hidden.includes(file.scope)) await planner.look(file);
  }
  await planner.putBackAll();
  const gone = await planner.goneDerived();
  const { files, builtOn, left, isMore } = planner;
  const changes = files.flatMap((file) => file.changes);
  const isKnown = versions.some(task.isUndone);
  return { ...planFrom(held, changes), files, builtOn, left, isMore, gone, isKnown };
}

/** What the plan of a part is made from. */
interface Ground extends Pick<UndoTask, "epochMs"> {
  readonly operation: Operation;
  readonly held: HeldHome;
  /** Files whose former content their plugin cannot use, by `placeKey`, and why. */
  readonly unusable: ReadonlyMap<string, string>;
}

/** A file that goes back to a content. */
interface Goal extends UndoneFile {
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
  readonly #trashedFrom = new Map<string, string>();
  /** What only the changes have had made from files, each as its removal. */
  readonly #derived: SizedChange[] = [];
  /** Of each scope, with what the plan adds. */
  readonly #places = new Map<string, FilePlaces>();
  readonly #sum = { changes: 0, bytes: 0 };

  constructor(ground: Ground) {
    this.#ground = ground;
  }

  /** Plans the file if nothing came after the changes. Notes what was built on them. */
  async look({ scope, path, present, before, isRemade, builtOn, from }: TouchedFile): Promise<void> {
    const { tools } = this.#ground.operation;
    // What is in the trash is where a file of the changes goes.
    if (isTrashPath(path)) {
      if (from !== undefined) this.#trashedFrom.set(`${placeKey({ scope, path: from })}:${present}`, path);
      return;
    }
    // Without a plugin that makes it anew, a derived file goes back as the others do.
    const isMade = tools.forScope("inspect", scope) !== null && tools.isDerivedAt({ scope, path });
    if (isMade && (before !== null || builtOn.length > 0)) return;
    const bytes = await this.#read(scope, path);
    if (bytes instanceof ToolError) return isMade ? undefined : this.#leave(scope, path, reasonOf(bytes));
    const sha256 = digestOf(bytes);
    if (isMade) {
      if (bytes !== null && sha256 === present)
        this.#derived.push({ kind: "remove", scope, path, bytes: bytes.length });
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
    const file = { scope, path, isMissing: bytes === null, isRemade, changes: [] };
    if (before !== null && unusable === undefined) this.#goals.push({ ...file, outcome: "restored", sha256: before });
    else if (bytes !== null) await this.#trash({ ...file, outcome: "trashed" }, bytes.length);
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
      // What is in its place goes with this change set.
      else if (making.has(placeKey({ scope, path: other }))) this.#later(goal);
      else this.#leave(scope, path, `${quoted(other)} is in its place`);
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

  async #putBack(goal: Goal, kept: ReadonlyMap<string, Uint8Array>): Promise<void> {
    const { scope, path, isMissing, sha256 } = goal;
    const trashed = this.#trashedFrom.get(`${placeKey(goal)}:${sha256}`) ?? null;
    const inTrash = trashed === null ? null : await this.#read(scope, trashed);
    // It counts only as the changes have left it.
    const isThere = inTrash instanceof Uint8Array && digestOf(inTrash) === sha256;
    const content = isThere ? inTrash : await keptContent(this.#ground.held, sha256, kept);
    if (content === null) return this.#leave(scope, path, "the content that it had before is no longer kept");
    const { length: bytes } = content;
    const write = { kind: "write", scope, path, content, bytes } as const;
    if (trashed === null || !isThere) this.#add(goal, [write]);
    else if (isMissing) this.#add(goal, [{ kind: "restore", scope, path: trashed, restored: path, bytes }]);
    else this.#add(goal, [write, { kind: "remove", scope, path: trashed, bytes }]);
  }

  async #trash(file: UndoneFile, bytes: number): Promise<void> {
    const { scope, path } = file;
    const places = await this.#placesIn(scope);
    const trashed = freeTrashPath(path, this.#ground.epochMs, (each) => places.inTheWayOf(each) !== null);
    if (!isScopePath(trashed)) return this.#leave(scope, path, "its name would be too long in the trash");
    places.add(trashed);
    this.#add(file, [{ kind: "trash", scope, path, trashed, bytes }]);
  }

  #add(file: UndoneFile, changes: readonly SizedChange[]): void {
    const isFirst = this.#sum.changes === 0;
    this.#sum.changes += changes.length;
    for (const { bytes } of changes) this.#sum.bytes += bytes;
    const fits = this.#sum.changes <= changesMax && (this.#sum.bytes <= bytesMax || isFirst);
    if (fits) this.files.push({ ...file, changes });
    else this.#later(file);
  }

  /** It is listed, and done in another change set. */
  #later(file: UndoneFile): void {
    this.isMore = true;
    this.files.push(file);
  }

  #read(scope: string, path: string): Promise<Uint8Array | ToolError | null> {
    return this.#ground.held.bytesOf(scope, path).catch(ifUnsafe);
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

/**
 * What the plugin of each scope makes anew. One that fails keeps nobody from an undo: its files are mended later. Adds to
 * `unusable` what it cannot use.
 */
async function madeOf(
  operation: Operation,
  files: readonly UndoneFile[],
  unusable: Map<string, string>,
): Promise<MadeChanges & Pick<UndonePart, "left">> {
  const [changes, seen, left]: [SizedChange[], Seen[], LeftFile[]] = [[], [], []];
  const now = files.filter((file) => file.changes.length > 0);
  for (const scope of new Set(now.map((file) => file.scope))) {
    const own = now.filter((file) => file.scope === scope);
    const leave = (reason: string): void =>
      void left.push({ path: scope, reason: `its plugin could not make its index anew, the doctor can: ${reason}` });
    try {
      const made = await derivedChanges(operation, {
        scope,
        changes: own.flatMap((file) => file.changes),
        paths: own.map(({ path }) => path),
        remadePaths: own.flatMap(({ path, isRemade }) => (isRemade ? [path] : [])),
      });
      changes.push(...made.changes);
      seen.push(...made.seen);
      for (const { path, reason } of made.refused) {
        const refused = own.filter((file) => isRefused(file, path));
        for (const file of refused) unusable.set(placeKey(file), `its plugin refuses what it was before: ${reason}`);
        if (refused.length === 0) leave(reason);
      }
    } catch (error) {
      const failure = asToolError(error, operation.action);
      if (endingCodes.has(failure.code)) throw failure;
      leave(reasonOf(failure));
    }
  }
  return { changes, seen, left };
}

/** A refusal of all files together is one of those that would come in addition. */
const isRefused = (file: UndoneFile, path: string): boolean =>
  file.outcome === "restored" && (path === "" ? file.isMissing : file.path === path);
