/** Lists the trash of all of a user's scopes, and removes files from it for good. */
import { shownPath } from "../../shared/encoded-name.ts";
import { storeLimits } from "../../shared/limits.ts";
import { parseTrashPath, trashFolder } from "../../shared/path.ts";
import * as z from "../../shared/zod.ts";
import type { HeldHome } from "../store/held-homes.ts";
import type { SizedChange } from "../values/change-set.ts";
import { giveTurn, inTurns, sorted } from "../values/turns.ts";
import { defineOperation } from "./define-operation.ts";
import { time, timeFrom } from "./field.ts";
import type { Field } from "./field.ts";
import type { Operation } from "./operation.ts";
import type { TrashedFile } from "./own-entry.ts";
import { shownTime } from "./told.ts";
import type { Told } from "./told.ts";
import { eachPart } from "./user-scopes.ts";
import type { HeldPart } from "./user-scopes.ts";

export const listTrash = defineOperation({
  name: "listTrash",
  action: "list the trash",
  changes: false,
  fields: {},
  run: (operation) => trashedFiles(operation),
  command: {
    name: "trash list",
    summary: "lists deleted files",
    description: `Lists what tools have deleted and what people have put into the trash, the latest first. Each name can be given to
"memcell trash restore".`,
    examples: ["memcell trash list"],
    tells: (files: readonly TrashedFile[]) => (files.length === 0 ? ["The trash is empty"] : [tableOf(files)]),
  },
});

/** A person says how old, a program when. */
const before: Field<number> = {
  ...time("AGE", "what is older goes: a number and s, m, h or d; 30d is thirty days", "ago"),
  schema: z.number(),
  flag: "older-than",
  expected: "an age as in 30d, or a day in the past; from programs, milliseconds since 1970-01-01 UTC",
  read: (typed) => timeFrom(typed, "ago")?.getTime(),
};

const toPurge = async (
  operation: Operation,
  { beforeEpochMs }: { readonly beforeEpochMs: number },
): Promise<TrashedFile[]> => (await trashedFiles(operation)).filter(({ epochMs }) => epochMs < beforeEpochMs);

export const purge = defineOperation({
  name: "purge",
  action: "purge the trash",
  changes: true,
  fields: { beforeEpochMs: before },
  run: (operation, { beforeEpochMs }) => purgeTrash(operation, beforeEpochMs),
  plan: { name: "planPurge", action: "plan a purge", changes: false, run: toPurge },
  command: {
    name: "trash purge",
    summary: "removes old deleted files for good",
    description: "Removes what was deleted before a time for good, in all scopes, and its versions from the history.",
    examples: ["memcell trash purge --older-than 30d", "memcell trash purge --older-than 30d --yes"],
    tells: (files: readonly TrashedFile[]): Told =>
      files.length === 0 ? ["Nothing in the trash is that old"] : [tableOf(files)],
  },
});

const tableOf = (files: readonly TrashedFile[]): Told[number] => ({
  heads: ["deleted", "bytes", "scope", "name"],
  rows: files.map(({ epochMs, bytes, scope, name }) => [
    shownTime(new Date(epochMs)),
    String(bytes),
    scope,
    shownPath(name),
  ]),
  numbers: [1],
});

export async function trashedFiles(operation: Operation): Promise<TrashedFile[]> {
  return await latestFirst((await eachPart(operation, { mode: "read" }, trashIn)).flat());
}

async function purgeTrash(operation: Operation, beforeEpochMs: number): Promise<TrashedFile[]> {
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
