/**
 * Puts a trashed file back, by a move. Its plugin says what else belongs to it, and what it makes anew. A file leaves the
 * trash only to its old place, or to where its plugin would write the same bytes.
 */
import { foldedPath, shownPath } from "../../shared/encoded-name.ts";
import type { ErrorCode } from "../../shared/errors.ts";
import { storeLimits } from "../../shared/limits.ts";
import { isTrashPath, parseTrashPath } from "../../shared/path.ts";
import type { RestoreOutput } from "../../shared/roles.ts";
import { quoted } from "../../shared/text.ts";
import type { Accepts } from "../call/asked-call.ts";
import type { CatalogTool } from "../plugins/tools.ts";
import type { HeldHome } from "../store/held-homes.ts";
import { placeKey } from "../values/change-set.ts";
import type { SizedChange } from "../values/change-set.ts";
import { ToolError } from "../values/tool-error.ts";
import { defineOperation } from "./define-operation.ts";
import { checkHasScope, noted } from "./derived-changes.ts";
import { optional, text } from "./field.ts";
import { FilePlaces, placesIn } from "./file-places.ts";
import { namedFiles, severalHave, typedPath } from "./find-file.ts";
import type { Operation } from "./operation.ts";
import type { TrashedFile } from "./own-entry.ts";
import { applyPlan, planFrom } from "./plan.ts";
import type { Plan } from "./plan.ts";
import { trashedFiles, trashPathOf, trashOf } from "./trash.ts";

export const restore = defineOperation({
  name: "restore",
  action: "restore an entry",
  changes: true,
  fields: {
    name: text("NAME", "a name of the trash list; or an entry's name or a file's former path: the latest of these"),
    scope: optional(text("SCOPE", "the scope to restore from (default: all scopes)")),
  },
  run: (operation, { name, scope }) => restoreFile(operation, name, scope),
  command: {
    name: "trash restore",
    summary: "puts a deleted file back",
    description: `Puts a deleted file back where it was, and the index is made to fit. If a plugin keeps an entry in several files, such as a
run of an agent, all that were deleted together come back. Nothing is overwritten.`,
    operands: ["name"],
    examples: [
      "memcell trash restore editor",
      "memcell trash restore my-agent/run-7 --scope runs",
      "memcell trash restore notes/plan.md --scope store",
    ],
    tells: ({ scope, path }: TrashedFile) => [`Restored ${shownPath(`${scope}/${path}`)}`],
  },
});

async function restoreFile(operation: Operation, name: string, scope: string | undefined): Promise<TrashedFile> {
  const files = (await trashedFiles(operation)).filter((file) => scope === undefined || file.scope === scope);
  const typed = typedPath(name);
  const file = files.find((each) => each.name === typed) ?? (await latestNamed(operation, files, name));
  if (file === undefined) {
    const where = scope === undefined ? "the trash" : `the trash of ${quoted(scope)}`;
    throw new ToolError("ENTRY_NOT_FOUND", `Cannot restore ${quoted(name)}: it is not in ${where}`);
  }
  if (isTrashPath(file.path)) {
    throw new ToolError(
      "INPUT_INVALID",
      `${restoring(file)}: ${quoted(file.path)}, where it lay, is in the trash itself`,
    );
  }
  await applyPlan(operation, { scopes: [file.scope], plan: (inside) => planRestore(inside, file) });
  return file;
}

/** The latest of the entry with a name: it can have been in the trash before, and have several files. */
async function latestNamed(
  operation: Operation,
  files: readonly TrashedFile[],
  name: string,
): Promise<TrashedFile | undefined> {
  const named = await namedFiles(operation, files, name);
  const entries = new Set(named.map((each) => operation.tools.entryAt(each) ?? placeKey(each)));
  if (entries.size > 1) throw severalHave(operation, name, named);
  return named[0];
}

async function planRestore(operation: Operation, file: TrashedFile): Promise<Plan> {
  const { scope } = file;
  const restorer = operation.tools.forScope("restore", scope);
  const byPlugin = restorer && (await planByPlugin(operation, restorer, file));
  if (byPlugin !== null) return byPlugin;
  checkHasScope(operation, scope, restoring(file));
  return await operation.hold("read", [scope], async (held) => {
    const { length: bytes } = await trashedBytes(held, file);
    return planFrom(held, [await moveBack({ held, file, live: await placesIn(held, scope) }, { ...file, bytes })]);
  });
}

/** What the plugin makes of it; `null` if the file is not one of its entries, or is not text. */
async function planByPlugin(operation: Operation, restorer: CatalogTool, file: TrashedFile): Promise<Plan | null> {
  const { scope } = file;
  let plan: Plan | null = null;
  // All changes are in the scope of the file: the tool has no other.
  const accepts: Accepts<RestoreOutput> = async ({ path, others = [] }, changes, held) => {
    const trashed = await trashedBytes(held, file);
    checkPutBack(file, path, changes, trashed);
    const into = { held, file, live: await placesIn(held, scope) };
    const back = await moveBack(into, { ...file, path, bytes: trashed.length });
    const written = changes.map((change) => change.path);
    const moves = others.length === 0 ? [] : await moveOthersBack(into, others, written);
    // What it has put back is moved, so that its history goes along.
    const besides = changes.filter((change) => change.path !== path);
    plan = planFrom(held, [back, ...moves, ...(await noted(held, scope, besides))]);
    return [];
  };
  try {
    const options = { accepts, freedBytes: file.bytes, mode: "look" } as const;
    await operation.ask("restore", restorer, { trashed: trashPathOf(file) }, options);
  } catch (error) {
    if (!(error instanceof ToolError) || !noneOfItsOwn.has(error.tableCode)) throw error;
  }
  return plan;
}

/** Throws `OUTPUT_INVALID` unless the plugin's last change at the path that it names is a write of the same bytes. */
function checkPutBack(file: TrashedFile, path: string, changes: readonly SizedChange[], trashed: Uint8Array): void {
  const last = changes.findLast((change) => foldedPath(change.path) === foldedPath(path));
  if (last?.kind === "write" && last.path === path && Buffer.from(last.content).equals(trashed)) return;
  throw new ToolError("OUTPUT_INVALID", `${restoring(file)}: the plugin has not put it back`);
}

/**
 * A plugin's errors for a trashed file that is not one of its entries, or not text. If the file is gone, the host
 * notices.
 */
const noneOfItsOwn: ReadonlySet<ErrorCode> = new Set(["ENTRY_NOT_FOUND", "ENTRY_UNREADABLE"]);

async function trashedBytes(held: HeldHome, file: TrashedFile): Promise<Uint8Array> {
  const bytes = await held.bytesOf(file.scope, trashPathOf(file));
  if (bytes !== null) return bytes;
  throw new ToolError("ENTRY_NOT_FOUND", `${restoring(file)}: it has gone meanwhile`);
}

/** What is restored, and where. */
interface Restoring {
  readonly held: HeldHome;
  readonly file: TrashedFile;
  readonly live: FilePlaces;
}

/** The move of one file, whose content does not pass through a guest. Throws `NAME_CONFLICT` if something is in its place. */
async function moveBack({ held, file, live }: Restoring, moved: TrashedFile): Promise<SizedChange> {
  const { scope, path, bytes } = moved;
  // Read as well, so that a file that is created meanwhile is noticed.
  const taken = live.inTheWayOf(path) ?? ((await held.bytesOf(scope, path)) === null ? null : path);
  if (taken === null) return { kind: "restore", scope, path: trashPathOf(moved), restored: path, bytes };
  throw new ToolError("NAME_CONFLICT", `${restoring(file)}: ${quoted(taken)} is in the place of ${quoted(path)}`);
}

/**
 * The moves of the files that a plugin names besides. Throws `OUTPUT_INVALID` if it names any other file than one of the
 * same trash, once, and the place where it was. `written`: the paths that the plugin has written.
 */
async function moveOthersBack(
  into: Restoring,
  others: NonNullable<RestoreOutput["others"]>,
  written: readonly string[],
): Promise<SizedChange[]> {
  const { held, file } = into;
  const refused = (named: string): ToolError =>
    new ToolError("OUTPUT_INVALID", `${restoring(file)}: the plugin names ${named}`);
  if (others.length > storeLimits.changesMax)
    throw refused(`${others.length} further files, at most ${storeLimits.changesMax} allowed`);
  const inTrash = new Map((await trashOf(held, file.scope)).map((each) => [trashPathOf(each), each]));
  inTrash.delete(trashPathOf(file));
  const restored = new FilePlaces(written);
  const moves: SizedChange[] = [];
  for (const { trashed, path } of others) {
    const other = inTrash.get(trashed);
    if (other === undefined || parseTrashPath(trashed) === null)
      throw refused(`${quoted(trashed)}, which no tool has moved to the trash`);
    if (other.path !== path || isTrashPath(path)) throw refused(`${quoted(path)}, where ${quoted(trashed)} was not`);
    if (restored.inTheWayOf(path) !== null) throw refused(`${quoted(path)}, where it has put a file already`);
    restored.add(path);
    moves.push(await moveBack(into, other));
  }
  return moves;
}

/** The action in messages. */
const restoring = ({ name }: TrashedFile): string => `Cannot restore ${quoted(name)}`;
