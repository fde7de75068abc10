/**
 * The owner takes something back while agents write one call after the other, to the same files' scope and to others: the
 * owner's hand wins, within the time that an operation may wait. `busy-agent.slow.test.ts` has 300 files.
 */
import { expect, test } from "vitest";

import { busyStage, engines, owner, poison, type BusyScope } from "./busy-stage.ts";

const cases = engines.flatMap((engine) =>
  ([1, 4] as const).flatMap((writers) =>
    (["memory", "store"] as const).map((scope) => [engine, writers, scope] as const),
  ),
);

test.for(cases)(
  "on %s beside %i writer(s), an undo and a restored version of the scope %s win",
  async ([engine, writers, scope]: (typeof cases)[number]) => {
    await using stage = await busyStage(engine);
    const { runtime } = stage;
    await poison(runtime, scope, 6);
    const version = (await runtime.upkeep.history(owner)).find(({ path }) => path.startsWith("bad-"));
    await using busy = await stage.write(scope, writers);
    const plan = await runtime.upkeep.undo(owner, { run: "bad" });
    expect(plan.trashed).toHaveLength(6);
    expect(plan.left).toEqual([]);
    await runtime.upkeep.restoreVersion(owner, version?.path ?? "", { version: version?.seq ?? 0, scope });
    expect(await busy.end()).toEqual([]);
    expect(await runtime.upkeep.inspect(owner)).toEqual([]);
    const { files } = await runtime.upkeep.export(owner);
    const bad = files.map(({ path }) => path).filter((path) => path.startsWith("bad-"));
    expect(bad).toEqual([version?.path]);
  },
);

const isIndex = (path: string): boolean => path === "MEMORY.md";

test.for(engines)("on %s, what the run has written before the undo's commit is undone as well", async (engine) => {
  await using stage = await busyStage(engine);
  const { runtime } = stage;
  await poison(runtime, "memory", 6);
  await using busy = await stage.write("memory", 2, "bad");
  await runtime.upkeep.undo(owner, { run: "bad" });
  expect(await busy.end()).toEqual([]);
  const versions = (await runtime.upkeep.history(owner)).filter(({ path }) => !isIndex(path));
  const undone = versions.filter(({ kind }) => kind === "undone");
  const last = Math.max(...undone.map(({ seq }) => seq));
  const before = versions.filter(({ run, seq, path }) => run === "bad" && seq < last && !path.startsWith("trash/"));
  const paths = [...new Set(before.map(({ path }) => path))].toSorted();
  expect(paths).toHaveLength(8);
  expect(
    undone
      .filter(({ sha256, seq }) => sha256 === null && seq === last)
      .map(({ path }) => path)
      .toSorted(),
  ).toEqual(paths);
});

test("the owner's other operations end beside a busy writer", async () => {
  const scope: BusyScope = "memory";
  await using stage = await busyStage("files");
  const { runtime } = stage;
  await poison(runtime, scope, 3);
  const { files } = await runtime.upkeep.export(owner);
  await using busy = await stage.write(scope, 4);
  for (let round = 0; round < 3; round++) {
    await runtime.upkeep.undo(owner, { run: "bad" });
    const [trashed] = await runtime.upkeep.listTrash(owner);
    if (trashed !== undefined) await runtime.upkeep.restore(owner, trashed.name);
    await runtime.upkeep.purge(owner, { beforeEpochMs: Date.now() + 1_000 });
    await runtime.upkeep.mend(owner);
    await runtime.upkeep.import(
      owner,
      files.filter(({ path }) => path.startsWith("bad-")),
      { replace: true },
    );
    await runtime.stores(owner).grant("bob", { level: "read" });
    await runtime.stores(owner).revoke("bob");
  }
  expect(await busy.end()).toEqual([]);
});
