/** The same commands, to memcell and to the SDK's local implementation: the same answers, but for the named traps. */
import { expect, test } from "vitest";

import { tableBelow } from "../documents/markdown-table.ts";
import { textOf } from "../documents/tracked-files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import type { Case } from "./case.ts";
import { editCases } from "./cases/edit.ts";
import { moveCases } from "./cases/move.ts";
import { pathCases } from "./cases/paths.ts";
import { viewCases } from "./cases/view.ts";
import { localTool, useMemcell } from "./tools.ts";
import { traps } from "./traps.ts";
import type { Trap } from "./traps.ts";

const cases: readonly Case[] = [...viewCases, ...editCases, ...moveCases, ...pathCases];

/** Those that `own-store.test.ts` and `limits.test.ts` show, and `withoutFolderSizes`. */
const shownElsewhere: readonly Trap[] = [traps.tooManyLines, traps.links, traps.lostUpdates, traps.folderSize];

const newUser = useMemcell();

test.for(cases)("memcell: $title", async ({ steps, after }) => {
  const tool = newUser();
  for (const [command, answer] of steps) expect.soft(await tool.run(command)).toBe(answer);
  expect(await tool.files()).toEqual(after);
});

test.for(cases)("the local tool: $title", async ({ steps, after, localAfter = after }) => {
  using folder = temporaryFolder();
  const tool = await localTool(folder.path);
  for (const [command, answer, local] of steps) {
    expect.soft(withoutFolderSizes(await tool.run(command))).toBe(withoutFolderSizes(local?.answer ?? answer));
  }
  expect(await tool.files()).toEqual(localAfter);
});

/** The size of an inode depends on the file system. */
function withoutFolderSizes(answer: string): string {
  if (!answer.startsWith("Here're the files")) return answer;
  const lines = answer.split("\n");
  return lines.map((line, at) => (at === 1 || line.endsWith("/") ? line.replace(/^[^\t]*/, "*") : line)).join("\n");
}

test("each trap in the README's table is seen, and no other one", () => {
  const named = tableBelow(textOf("shared/anthropic/README.md"), "What differs from the SDK's local tool");
  expect(named.map(([trap]) => trap)).toEqual(Object.values(traps));
  const steps = cases.flatMap((each) => each.steps);
  const seen = steps.flatMap(([, answer, local]) => (local && local.answer !== answer ? [local.trap] : []));
  const spoiled = cases.flatMap(({ trap, after, localAfter }) => (trap && localAfter !== after ? [trap] : []));
  expect(new Set([...seen, ...spoiled, ...shownElsewhere])).toEqual(new Set(Object.values(traps)));
});
