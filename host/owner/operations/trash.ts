import { shownPath } from "../../../shared/encoded-name.ts";
import * as z from "../../../shared/zod.ts";
import { defineOperation } from "../define-operation.ts";
import { optional, text, time, timeFrom } from "../field.ts";
import type { Field } from "../field.ts";
import { restoreFile } from "../restore.ts";
import { shownTime } from "../told.ts";
import type { Told } from "../told.ts";
import { listTrash as listAll, purgeTrash } from "../trash.ts";
import type { TrashedFile } from "../upkeep.ts";

export const listTrash = defineOperation({
  name: "listTrash",
  action: "list the trash",
  changes: false,
  fields: {},
  run: (operation) => listAll(operation),
  commands: [
    {
      name: "trash list",
      summary: "lists deleted files",
      description: `Lists what tools have deleted and what people have put into the trash, the latest first. Each name can be given to
"memcell trash restore".`,
      examples: ["memcell trash list"],
      tells: (files: readonly TrashedFile[]) => (files.length === 0 ? ["The trash is empty"] : [tableOf(files)]),
      isEmpty: (files) => files.length === 0,
    },
  ],
});

export const restore = defineOperation({
  name: "restore",
  action: "restore an entry",
  changes: true,
  fields: {
    name: text("NAME", "a name of the trash list; or an entry's name or a file's former path: the latest of these"),
    scope: optional(text("SCOPE", "the scope to restore from (default: all scopes)")),
  },
  run: (operation, { name, scope }) => restoreFile(operation, name, scope),
  commands: [
    {
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
  ],
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
  operation: Parameters<typeof listAll>[0],
  { beforeEpochMs }: { readonly beforeEpochMs: number },
): Promise<TrashedFile[]> => (await listAll(operation)).filter(({ epochMs }) => epochMs < beforeEpochMs);

export const purge = defineOperation({
  name: "purge",
  action: "purge the trash",
  changes: true,
  fields: { beforeEpochMs: before },
  run: (operation, { beforeEpochMs }) => purgeTrash(operation, beforeEpochMs),
  plan: { name: "planPurge", action: "plan a purge", changes: false, run: toPurge },
  commands: [
    {
      name: "trash purge",
      summary: "removes old deleted files for good",
      description: "Removes what was deleted before a time for good, in all scopes, and its versions from the history.",
      examples: ["memcell trash purge --older-than 30d", "memcell trash purge --older-than 30d --yes"],
      tells: (files: readonly TrashedFile[]): Told =>
        files.length === 0 ? ["Nothing in the trash is that old"] : [tableOf(files)],
      isEmpty: (files) => files.length === 0,
    },
  ],
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
