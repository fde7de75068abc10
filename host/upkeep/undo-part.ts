/** Plans what takes changes back in one part of a user's scopes, with what the plugins make of it. Changes nothing. */
import type { AnyErrorCode } from "../../shared/errors.ts";
import { isTrashPath } from "../../shared/path.ts";
import type { RefusedPath } from "../../shared/roles.ts";
import { placeKey } from "../store/versions/present-origins.ts";
import type { Seen, SizedChange } from "../values/change-set.ts";
import { asToolError, reasonOf } from "../values/tool-error.ts";
import type { PlannedChanges } from "./commit-planned.ts";
import { derivedChanges } from "./derived-changes.ts";
import type { DerivedChanges } from "./derived-changes.ts";
import type { Operation } from "./operation.ts";
import { planUndone } from "./plan-undo.ts";
import type { UndoneFile, UndonePart, UndoTask } from "./plan-undo.ts";
import type { LeftFile } from "./undo-plan.ts";
import { holdPart } from "./user-scopes.ts";

/** What is undone in one part. */
export interface PartTask extends Omit<UndoTask, "unusable"> {
  readonly scopes: readonly string[];
  readonly apart: ReadonlySet<string>;
}

export interface PlannedPart extends UndonePart, PlannedChanges {
  /** The files that plugins make anew, with their scopes. */
  readonly derived: readonly string[];
}

export async function planPart(operation: Operation, task: PartTask): Promise<PlannedPart> {
  const unusable = new Map<string, string>();
  for (;;) {
    const part = await holdPart(operation, { ...task, writes: false }, (held) =>
      planUndone(operation, held, { ...task, unusable }),
    );
    const made = await makeDerived(operation, part.files);
    const before = unusable.size;
    for (const { key, reason } of made.unusable) unusable.set(key, `its plugin refuses what it was before: ${reason}`);
    // Without these files, the plugin's answer is another.
    if (unusable.size > before) continue;
    const goes = new Set(part.gone.map(placeKey));
    const derivedMade = [...made.changes.filter((change) => !goes.has(placeKey(change))), ...part.gone];
    const changes = [...part.files.flatMap((file) => file.changes), ...derivedMade];
    const derived = derivedMade.filter(({ path }) => !isTrashPath(path)).map(({ scope, path }) => `${scope}/${path}`);
    return { ...part, changes, seen: [...part.seen, ...made.seen], left: [...part.left, ...made.left], derived };
  }
}

interface Made {
  readonly changes: SizedChange[];
  readonly seen: Seen[];
  readonly left: LeftFile[];
  readonly unusable: { readonly key: string; readonly reason: string }[];
}

/** Asks the plugin of each scope. One that fails keeps nobody from an undo: its files are mended later. */
async function makeDerived(operation: Operation, files: readonly UndoneFile[]): Promise<Made> {
  const made: Made = { changes: [], seen: [], left: [], unusable: [] };
  const now = files.filter(({ changes }) => changes.length > 0);
  for (const scope of new Set(now.map((file) => file.scope))) {
    const own = now.filter((file) => file.scope === scope);
    const asked = await ask(operation, scope, own);
    if (typeof asked === "string") {
      made.left.push({ path: scope, reason: `its plugin could not make its index anew, the doctor can: ${asked}` });
      continue;
    }
    made.changes.push(...asked.changes);
    made.seen.push(...asked.seen);
    const refused = asked.refused.flatMap((each) => unusableFor(each, own));
    if (asked.refused.length > 0 && refused.length === 0) {
      const reason = `its plugin could not make its index anew: ${asked.refused[0]?.reason ?? ""}`;
      made.left.push({ path: scope, reason });
    }
    made.unusable.push(...refused);
  }
  return made;
}

/** Returns the reason if the plugin fails. */
async function ask(
  operation: Operation,
  scope: string,
  files: readonly UndoneFile[],
): Promise<DerivedChanges | string> {
  const remade = files.filter(({ isRemade }) => isRemade);
  const [paths, remadePaths] = [files, remade].map((some) => some.map(({ path }) => path));
  try {
    const changes = files.flatMap((file) => file.changes);
    return await derivedChanges(operation, { scope, changes, paths: paths ?? [], remadePaths });
  } catch (error) {
    const failure = asToolError(error, operation.action);
    if (ending.has(failure.code)) throw failure;
    return reasonOf(failure);
  }
}

/** Errors that say nothing about the plugin. */
const ending: ReadonlySet<AnyErrorCode> = new Set(["CANCELLED", "BUSY", "CLOSED"]);

/** A refusal of all files together is one of those that would come in addition. */
function unusableFor({ path, reason }: RefusedPath, files: readonly UndoneFile[]): Made["unusable"] {
  const refused = files.filter(
    (file) => file.outcome === "restored" && (path === "" ? file.isMissing : file.path === path),
  );
  return refused.map((file) => ({ key: placeKey(file), reason }));
}
