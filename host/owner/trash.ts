/** Lists the trash of all of a user's scopes, and removes files from it for good. */
import { storeLimits } from "../../shared/limits.ts";
import { parseTrashPath, trashFolder } from "../../shared/path.ts";
import type { HeldHome } from "../store/held-homes.ts";
import type { SizedChange } from "../values/change-set.ts";
import { giveTurn, inTurns, sorted } from "../values/turns.ts";
import type { Operation } from "./operation.ts";
import type { TrashedFile } from "./upkeep.ts";
import { eachPart } from "./user-scopes.ts";
import type { HeldPart } from "./user-scopes.ts";

export async function listTrash(operation: Operation): Promise<TrashedFile[]> {
  return await latestFirst((await eachPart(operation, { mode: "read" }, trashIn)).flat());
}

export async function purgeTrash(operation: Operation, beforeEpochMs: number): Promise<TrashedFile[]> {
  const purged = await eachPart(operation, { mode: "write" }, async (part) => {
    const old = (await trashIn(part)).filter(({ epochMs }) => epochMs < beforeEpochMs);
    for (let at = 0; at < old.length; at += storeLimits.changesMax) {
      await operation.commit(part.held, old.slice(at, at + storeLimits.changesMax).map(removalOf));
    }
    return old;
  });
  return await latestFirst(purged.flat());
}

const removalOf = (file: TrashedFile): SizedChange => ({
  kind: "remove",
  scope: file.scope,
  path: trashPathOf(file),
  bytes: file.bytes,
});

/** A trashed file's present path. */
export const trashPathOf = ({ name }: TrashedFile): string => `${trashFolder}/${name}`;

async function trashIn({ held, scopes }: HeldPart): Promise<TrashedFile[]> {
  // Not pushed as arguments: a call has room for some 120,000, and a trash can have more files.
  const files: TrashedFile[][] = [];
  for (const scope of scopes) files.push(await trashOf(held, scope));
  return await latestFirst(files.flat());
}

/**
 * The trash of one scope: every file that counts in its quota. One whose name no host has given was put there by hand,
 * at the time of its last change, and its place is the one with its name.
 */
export async function trashOf(reader: HeldHome, scope: string): Promise<TrashedFile[]> {
  const files: TrashedFile[] = [];
  for (const { path: inTrash, bytes, changedUs = 0 } of await reader.listTrash(scope)) {
    await giveTurn();
    const name = inTrash.slice(trashFolder.length + 1);
    const { path, epochMs } = parseTrashPath(inTrash) ?? { path: name, epochMs: Math.floor(changedUs / 1_000) };
    files.push({ scope, name, path, epochMs, bytes });
  }
  return files;
}

const latestFirst = (files: readonly TrashedFile[]): Promise<TrashedFile[]> =>
  inTurns(sorted(files, (a, b) => b.epochMs - a.epochMs || (a.name < b.name ? 1 : -1)));
