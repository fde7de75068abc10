/** An entry of several files, such as a run: all of them come back in one commit, or none. */
import { rmSync, truncateSync } from "node:fs";
import { join } from "node:path";

import { createRuntime } from "memcell";
import type { MemoryChange, Runtime } from "memcell";
import { newEvent, plannerNoteData, RunHistory } from "memcell/run-history";
import { expect, test } from "vitest";

import { storeLimits } from "../../shared/limits.ts";
import { alice, allFiles, engines, openUpkeep } from "./upkeep-stage.ts";

const plugins = ["run-history"];
const run = ["agent", "run"] as const;
const live = ["000001.jsonl", "000002.jsonl", "000003.jsonl", "closed.jsonl", "run.json"].map(
  (name) => `runs/agent/run/${name}`,
);
/** More than a segment. */
const long = "x".repeat(66_000);

/** Each event fills a segment. */
async function append(runtime: Runtime, ...texts: readonly string[]): Promise<void> {
  for (const [second, text] of texts.entries()) {
    const event = newEvent(`2026-01-01T00:00:0${second + 1}Z`, plannerNoteData({ note: text + long }));
    await new RunHistory(runtime, alice).append(...run, [event]);
  }
}

/** The first letter of each event's text, and the number of damaged lines. */
async function load(runtime: Runtime): Promise<{ texts: string; damaged: number }> {
  const { events, meta } = await new RunHistory(runtime, alice).load(...run);
  return { texts: events.map(({ data }) => String(data["note"]).charAt(0)).join(""), damaged: meta.damagedLines };
}

async function deleteRun(runtime: Runtime): Promise<void> {
  const ids = { agentId: "agent", runId: "run" };
  expect(await runtime.callAsHost("run-history/DeleteRun", ids, alice)).toMatchObject({ ok: true });
}

const placesOf = (files: readonly { readonly scope: string; readonly path: string }[] = []): string[] =>
  files.map(({ scope, path }) => `${scope}/${path}`).toSorted();

const cases = engines.flatMap((engine) =>
  (["agent/run", "agent/run/000002.20260101T000000000Z.jsonl"] as const).map((name) => [engine, name] as const),
);

test.for(cases)(
  "%s: a deleted run comes back in one commit, by its name or that of a file: %s",
  async ([engine, name]) => {
    await using at = await openUpkeep(engine, { plugins });
    await append(at.runtime, "a", "b", "c");
    const before = await allFiles(at);
    expect(Object.keys(before)).toEqual(live);
    await deleteRun(at.runtime);
    const [entries, trash] = [await at.runtime.memoryEntries(alice), await at.upkeep.listTrash(alice)];
    expect([entries, trash.length]).toEqual([[], live.length]);
    const changes: MemoryChange[] = [];
    at.runtime.onChange((change) => changes.push(change));
    expect(await at.upkeep.restore({ ...alice, callId: "back" }, name)).toMatchObject({ scope: "runs" });
    expect(await allFiles(at)).toEqual(before);
    expect(await load(at.runtime)).toEqual({ texts: "abc", damaged: 0 });
    expect(await at.runtime.memoryEntries(alice)).toMatchObject([{ family: "run-history", name: "agent/run" }]);
    expect(await at.upkeep.inspect(alice)).toEqual([]);
    const trashed = trash.map((file) => `runs/trash/${file.name}`).toSorted();
    expect(changes.map(({ files }) => placesOf(files))).toEqual([[...live, ...trashed].toSorted()]);
    const ofCall = at.records().filter((record) => "callId" in record && record.callId === "back");
    const staged = ofCall.find((record) => record.kind === "staged");
    expect(staged).toMatchObject({ tool: null, trashed: [] });
    expect([placesOf(staged?.writes), placesOf(staged?.removed)]).toEqual([live, trashed]);
    const ended = ofCall.filter((record) => record.kind === "call" || record.kind === "upkeep");
    expect(ended).toMatchObject([
      { tool: "RestoreRun", changes: "dropped", removed: [] },
      { action: "restore", removed: staged?.removed },
    ]);
  },
);

test("if a segment has been purged, all other files come back, and the doctor reports it", async () => {
  await using at = await openUpkeep("files", { plugins });
  await append(at.runtime, "a", "b", "c");
  await deleteRun(at.runtime);
  rmSync(join(at.home(), "runs/trash/agent/run/000002.20260101T000000000Z.jsonl"));
  await at.upkeep.restore(alice, "agent/run");
  expect(Object.keys(at.files())).toEqual(live.filter((path) => !path.includes("000002")));
  expect((await load(at.runtime)).texts).toBe("ac");
  const missing = { problem: "file-unreadable", path: "runs/agent/run/000002.jsonl" };
  expect(await at.upkeep.inspect(alice)).toContainEqual(expect.objectContaining(missing));
});

test("a run can be deleted and restored when the user's scope is full", async () => {
  await using at = await openUpkeep("files", { plugins });
  await append(at.runtime, "a", "b", "c");
  const { scopeBytesMax, fileBytesMax } = storeLimits;
  const fillers = Array.from({ length: scopeBytesMax / fileBytesMax }, (_, each) => `runs/filler-${each}`);
  at.put(Object.fromEntries(fillers.map((path) => [path, ""])));
  for (const path of fillers) truncateSync(join(at.home(), path), fileBytesMax);
  // A new process knows nothing of the sizes.
  await using other = await createRuntime({ dataDir: at.dataDir, plugins, threadsMax: 1, clock: () => at.atMs });
  await expect(append(other, "d")).rejects.toMatchObject({ code: "QUOTA_EXCEEDED" });
  await deleteRun(other);
  await other.upkeep.restore(alice, "agent/run");
  expect(await load(other)).toEqual({ texts: "abc", damaged: 0 });
  await expect(append(other, "d")).rejects.toMatchObject({ code: "QUOTA_EXCEEDED" });
});
