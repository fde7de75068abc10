/** Undoing a run in parts, and at the limits of a plugin. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { entryText } from "../support/memory-files.ts";
import { alice, honest, liveFiles, openUpkeep, poisoned, remove, upsert } from "./upkeep-stage.ts";

const run = { run: "poisoned" };

test("an undo of more bytes than one change set holds is done in parts", { timeout: 600_000 }, async () => {
  await using stage = await openUpkeep("memory", { plugins: ["user-memory"] });
  const { upkeep } = stage.runtime;
  const names = Array.from({ length: 600 }, (_, at) => `entry-${String(at).padStart(3, "0")}`);
  const files = names.map((name) => {
    const content = Buffer.from(`${entryText(name)}${"x".repeat(60_000)}`);
    return { scope: "memory", path: `${name}.md`, content };
  });
  await upkeep.import(alice, files);
  const before = await liveFiles(stage);
  for (const name of names) await stage.write({ ctx: poisoned, input: remove(name) });
  const last = (await upkeep.history(alice))[0]?.seq ?? 0;
  const plan = await upkeep.planUndo(alice, run);
  expect(plan.restored).toHaveLength(600);
  expect((await upkeep.undo(alice, run)).restored).toEqual(plan.restored);
  expect(await liveFiles(stage)).toEqual(before);
  expect((await upkeep.history(alice))[0]?.seq).toBe(last + 2);
});

test(
  "what its plugin has no room for, or cannot read, is named, and comes back later",
  { timeout: 600_000 },
  async () => {
    await using stage = await openUpkeep("files", { plugins: ["user-memory"] });
    const { upkeep } = stage.runtime;
    const names = Array.from({ length: 999 }, (_, at) => `entry-${at}`);
    await upkeep.import(
      alice,
      names.map((name) => ({ scope: "memory", path: `${name}.md`, content: Buffer.from(entryText(name)) })),
    );
    writeFileSync(join(stage.home(), "memory/mine.md"), Uint8Array.of(0xff));
    await stage.write({ ctx: poisoned, input: upsert("mine", "evil") });
    for (const name of ["entry-1", "entry-2"]) await stage.write({ ctx: poisoned, input: remove(name) });
    for (const name of ["more-1", "more-2"]) await stage.write({ ctx: honest, input: upsert(name, "honest") });
    const reason = expect.stringMatching(/^its plugin refuses what it was before: /) as string;
    const deleted = ["memory/entry-1.md", "memory/entry-2.md"];
    const left = deleted.map((path) => ({ path, reason }));
    expect(await upkeep.undo(alice, run)).toMatchObject({
      restored: [],
      trashed: ["memory/mine.md"],
      left: [...left, { path: "memory/mine.md", reason }],
    });
    expect(await upkeep.undo(alice, run)).toMatchObject({ restored: [], trashed: [], left });
    await stage.write({ ctx: honest, input: remove("more-1") });
    expect(await upkeep.undo(alice, run)).toMatchObject({ restored: deleted, trashed: [], left: [] });
  },
);
