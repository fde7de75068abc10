import { counted } from "../../../shared/text.ts";
import { archivePlace, refuseTaken } from "../../archive/archive-file.ts";
import { ToolError } from "../../values/tool-error.ts";
import { defineOperation } from "../define-operation.ts";
import type { EraseOptions, ErasePlan, Erasure, LeftOver } from "../erase-plan.ts";
import { eraseUser, planErasure } from "../erase.ts";
import { optional, text } from "../field.ts";
import type { Operation } from "../operation.ts";

export const erase = defineOperation({
  name: "erase",
  action: "erase the user",
  changes: true,
  fields: {
    export: optional(
      text(
        "FILE.zip",
        "a zip file to write first; it must not exist yet",
        "the path of a file",
        (typed) => typed !== "",
      ),
    ),
  },
  run: async (operation: Operation, options: EraseOptions) =>
    await eraseUser(operation, await exportPlace(operation, options)),
  plan: {
    name: "planErase",
    action: "plan an erasure",
    changes: true,
    run: async (operation: Operation, options: EraseOptions) => {
      await exportPlace(operation, options);
      return await planErasure(operation);
    },
  },
  commands: [
    {
      name: "erase",
      summary: "erases a user with everything that is stored",
      description: `Erases a user for good: the user's folder with all scopes and their trash, whatever plugins are loaded; the user's own store
with its grants; and the grants that others have given to the user.

It is all or nothing, also if the process is killed. It needs no free room on the disk. It does not follow links. Calls of the user
wait, or begin anew with an empty memory.

What stays: the audit log; what the user has written in other people's stores, which their owners remove with "memcell stores clear"; and
mounted folders.

With --export, a zip file is written first, the same as "memcell export" writes. If that fails, or if it would leave anything out,
nothing is removed.`,
      examples: ["memcell erase --user alice", "memcell erase --user alice --export alice.zip --yes"],
      exitCodes: [
        "erased; without --yes: there is something to erase",
        "failed; or erased, but something could not be removed",
      ],
      needsUser: true,
      tells: (plan: ErasePlan | Erasure, { isPlan }) => [
        ...linesOf(plan),
        ...(isPlan ? [] : leftIn("left" in plan ? plan.left : [])),
      ],
      isUnfinished: (plan) => "left" in plan && plan.left.length > 0,
    },
  ],
});

/** Where the export goes; `null` without one. Throws if nothing can be written there. */
async function exportPlace(operation: Operation, { export: file }: EraseOptions): Promise<string | null> {
  if (file === undefined) return null;
  await refuseTaken(file);
  const place = archivePlace(file);
  if (!operation.isAmongUsers(place)) return place;
  throw new ToolError(
    "INPUT_INVALID",
    `Cannot ${operation.action}: export is a file in the data folder; expected one outside`,
  );
}

function linesOf({ contents, grantees, granters, mounted, closed }: ErasePlan): string[] {
  const sum = (of: "files" | "bytes"): number => contents.reduce((all, each) => all + each[of], 0);
  return [
    ...contents.map(({ scope, files, bytes }) => `${scope ?? "other files"}: ${amount(files, bytes)}`),
    ...grantees.map((id) => `grant to the user with the store ${id}`),
    ...granters.map((id) => `grant of the store ${id}`),
    ...mounted.map((scope) => `${scope}: stays, because it is a mounted folder`),
    ...closed.map((each) => `cannot be opened: ${shown(each)}`),
    `${amount(sum("files"), sum("bytes"))}, ${counted(grantees.length + granters.length, "grant")}`,
  ];
}

function leftIn(left: readonly LeftOver[]): string[] {
  if (left.length === 0) return ["Erased"];
  return [
    ...left.map((each) => `could not be removed: ${shown(each)}`),
    "Erased for all tools, but something is left: the next start tries to remove it again",
  ];
}

const amount = (files: number, bytes: number): string => `${counted(files, "file")}, ${counted(bytes, "byte")}`;

const shown = ({ path, reason }: LeftOver): string => `${path}: ${reason}`;
