/**
 * The owner takes something back while agents write one call after the other, to the same files' scope and to others: the
 * owner's hand wins, within the time that an operation may wait. `busy-agent.slow.test.ts` has 300 files.
 */
import { expect, test } from "vitest";

import { oneIn } from "../stage/seed.ts";
import { busyStage, engines } from "./busy-stage.ts";
import { alice } from "./upkeep-stage.ts";

const run = "bad";
const cases = engines.flatMap((engine) =>
  ([1, 4] as const).flatMap((writers) =>
    (["memory", "store"] as const).map((scope) => [engine, writers, scope] as const),
  ),
);

// Other engines, numbers of writers and scopes with each seed.
test.for(oneIn(3, cases))(
  "on %s beside %i writer(s), an undo and a restored version of the scope %s win",
  async ([engine, writers, scope]) => {
    await using stage = await busyStage(engine);
    const { upkeep } = stage;
    await stage.poison(scope, 6);
    const version = (await upkeep.history(alice)).find(({ path }) => path.startsWith("bad-"));
    await using busy = await stage.write(writers, { scope, run: "good" });
    const plan = await upkeep.undo(alice, { run });
    expect(plan.trashed).toHaveLength(6);
    expect(plan.left).toEqual([]);
    await upkeep.restoreVersion(alice, version?.path ?? "", { version: version?.seq ?? 0, scope });
    expect(await busy.end()).toEqual([]);
    expect(await upkeep.inspect(alice)).toEqual([]);
    const { files } = await upkeep.export(alice);
    const bad = files.map(({ path }) => path).filter((path) => path.startsWith("bad-"));
    expect(bad).toEqual([version?.path]);
  },
);

test.for(engines)("on %s, what the run has written before the undo's commit is undone as well", async (engine) => {
  await using stage = await busyStage(engine);
  const { upkeep } = stage;
  await stage.poison("memory", 6);
  await using busy = await stage.write(2, { scope: "memory", run });
  await upkeep.undo(alice, { run });
  expect(await busy.end()).toEqual([]);
  const versions = (await upkeep.history(alice)).filter(({ path }) => path !== "MEMORY.md");
  const undone = versions.filter(({ kind }) => kind === "undone");
  const last = Math.max(...undone.map(({ seq }) => seq));
  const before = versions.filter((each) => each.run === run && each.seq < last && !each.path.startsWith("trash/"));
  const paths = [...new Set(before.map(({ path }) => path))].toSorted();
  expect(paths).toHaveLength(8);
  const gone = undone.filter(({ sha256, seq }) => sha256 === null && seq === last);
  expect(gone.map(({ path }) => path).toSorted()).toEqual(paths);
});

test("the owner's other operations end beside a busy writer", async () => {
  await using stage = await busyStage("files");
  const { upkeep } = stage;
  await stage.poison("memory", 3);
  const { files } = await upkeep.export(alice);
  const bad = files.filter(({ path }) => path.startsWith("bad-"));
  await using busy = await stage.write(4, { scope: "memory", run: "good" });
  for (let round = 0; round < 2; round++) {
    await upkeep.undo(alice, { run });
    const [trashed] = await upkeep.listTrash(alice);
    if (trashed !== undefined) await upkeep.restore(alice, trashed.name);
    await upkeep.purge(alice, { beforeEpochMs: Date.now() + 1_000 });
    await upkeep.mend(alice);
    await upkeep.import(alice, bad, { replace: true });
    await stage.runtime.stores(alice).grant("bob", { level: "read" });
    await stage.runtime.stores(alice).revoke("bob");
  }
  expect(await busy.end()).toEqual([]);
});
