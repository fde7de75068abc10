/** What the log has of the owner's work on versions. */
import type { CallContext } from "memcell";
import { expect, test } from "vitest";

import { openAuditedStage, upsert } from "./audited-stage.ts";

const ctx = (callId: string): CallContext => ({ userId: "alice", callId });

test("records what an undo and a restored version have changed, and that versions were compared", async () => {
  await using stage = await openAuditedStage();
  const { runtime } = stage;
  const { upkeep } = runtime;
  const poisoned: CallContext = { ...ctx("write"), origin: { class: "direct_user", run: "poisoned" } };
  await runtime.call("UpdateUserMemory", upsert("a"), ctx("first"));
  await runtime.call("UpdateUserMemory", { ...upsert("a"), body: "evil needle" }, poisoned);
  await upkeep.planUndo(ctx("plan"), { run: "poisoned" });
  await upkeep.undo(ctx("undo"), { run: "poisoned" });
  await upkeep.diff(ctx("diff"), "a", { from: 1, to: 2 });
  await upkeep.restoreVersion(ctx("restore"), "a", { version: 2 });
  await expect(upkeep.undo(ctx("unknown"), { run: "elsewhere" })).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
  const told = stage.recordsOf("upkeep").map(({ callId, action, code, history }) => {
    return [callId, action, code, history?.length];
  });
  expect(told).toEqual([
    ["plan", "planUndo", null, undefined],
    ["undo", "undo", null, 1],
    ["diff", "diff", null, undefined],
    ["restore", "restoreVersion", null, 1],
    ["unknown", "undo", "ENTRY_NOT_FOUND", undefined],
  ]);
  for (const callId of ["undo", "restore"]) {
    const [staged, ...others] = stage.recordsOf("staged", callId);
    expect(others).toEqual([]);
    expect(staged?.writes?.map(({ path }) => path)).toContain("a.md");
  }
  for (const callId of ["plan", "diff", "unknown"]) expect(stage.recordsOf("staged", callId)).toEqual([]);
  // No text of an entry is in the log.
  expect(JSON.stringify(stage.records())).not.toContain("needle");
});
