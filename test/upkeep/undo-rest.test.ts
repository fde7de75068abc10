/** What is left after an undo of all that there was, and of what was waiting. */
import type { CallContext } from "memcell";
import { expect, test } from "vitest";

import { trustingPolicy } from "../support/trusting-policy.ts";
import { waitingId } from "../support/waiting-id.ts";
import { alice, honest, liveFiles, openUndoStage, poisoned, upsert } from "./undo-stage.ts";

const run = { run: "poisoned" };

test.for(["files", "memory"] as const)(
  "%s: a run that has written all that there is leaves nothing",
  async (engine) => {
    await using stage = await openUndoStage(engine);
    const { runtime } = stage;
    await stage.write({ ctx: poisoned, input: upsert("a", "evil") }, { ctx: poisoned, input: upsert("b", "evil") });
    const note = { command: "create", path: "/memories/evil.md", content: "evil" };
    expect(await runtime.call("memory", note, poisoned)).toMatchObject({ ok: true });
    const plan = await runtime.upkeep.planUndo(alice, run);
    expect(plan).toMatchObject({ trashed: ["memory/a.md", "memory/b.md", "store/evil.md"], left: [] });
    expect(plan.derived).toContain("memory/MEMORY.md");
    expect(await runtime.upkeep.undo(alice, run)).toEqual(plan);
    expect(await liveFiles(stage)).toEqual({});
    expect(await runtime.upkeep.inspect(alice)).toEqual([]);
    // What somebody has added by then stays, with an index.
    await stage.write({ ctx: poisoned, input: upsert("a", "evil") }, { ctx: honest, input: upsert("b", "mine") });
    await runtime.upkeep.undo(alice, run);
    expect(Object.keys(await liveFiles(stage))).toEqual(["memory/MEMORY.md", "memory/b.md"]);
  },
);

test.for(["files", "memory"] as const)("%s: what the run or the source has waiting is rejected", async (engine) => {
  await using stage = await openUndoStage(engine, { policy: trustingPolicy({}) });
  const { runtime } = stage;
  const { upkeep } = runtime;
  const wait = async (name: string, ctx: CallContext): Promise<string> =>
    waitingId(await runtime.call("UpdateUserMemory", upsert(name, "evil"), ctx));
  const web: CallContext = { ...alice, origin: { class: "tool_external", run: "other" } };
  const [first, other, second] = [await wait("a", poisoned), await wait("b", web), await wait("c", poisoned)];
  const idsOf = async (): Promise<string[]> => (await upkeep.pending(alice)).map(({ id }) => id).toSorted();
  const { waiting } = await upkeep.planUndo(alice, run);
  expect(waiting.map(({ id }) => id).toSorted()).toEqual([first, second].toSorted());
  expect(waiting.find(({ id }) => id === first)).toMatchObject({ tool: "UpdateUserMemory" });
  expect(waiting.flatMap(({ paths }) => paths)).toEqual(expect.arrayContaining(["memory/a.md", "memory/c.md"]));
  expect(await upkeep.planUndo(alice, { since: new Date(0) })).toMatchObject({ waiting: [] });
  expect(await idsOf()).toEqual([first, other, second].toSorted());
  expect(await upkeep.undo(alice, { source: "https://example.com/" })).toMatchObject({ trashed: [], waiting });
  expect(await idsOf()).toEqual([other]);
  expect(await upkeep.undo(alice, { run: "other" })).toMatchObject({ waiting: [{ id: other }] });
  await expect(upkeep.undo(alice, { run: "other" })).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
});
