/** An entry of several files, such as a run: all of them come back in one commit, or none. */
import { readFileSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";

import { createRuntime, fileStore, memoryStore } from "memcell";
import type { MemoryChange, Runtime } from "memcell";
import { describe, expect, test } from "vitest";

import { storeLimits } from "../../shared/limits.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { readUserFiles, userFolder, writeUserFiles } from "../support/user-files.ts";

const alice = { userId: "alice" };
const start = Date.UTC(2026, 0, 1);
const run = { agentId: "agent", runId: "run" };
const parts = ["000001.jsonl", "000002.jsonl", "000003.jsonl", "closed.jsonl", "run.json"];
/** More than a segment. */
const long = "x".repeat(66_000);

interface Stage {
  readonly runtime: Runtime;
  readonly at: { epochMs: number };
  readonly dataDir: string;
  readonly log: string;
}

async function withRuntime(kind: "fileStore" | "memoryStore", work: (stage: Stage) => Promise<void>): Promise<void> {
  using folder = temporaryFolder();
  const [dataDir, log] = [join(folder.path, "data"), join(folder.path, "audit.jsonl")];
  const at = { epochMs: start };
  const store = kind === "fileStore" ? fileStore({ dir: dataDir }) : memoryStore();
  const options = { store, plugins: ["run-history"], threadsMax: 1, auditLog: { file: log }, clock: () => at.epochMs };
  await using runtime = await createRuntime(options);
  await work({ runtime, at, dataDir, log });
}

const host = async (runtime: Runtime, tool: string, input: object): Promise<unknown> => {
  const result = await runtime.callAsHost(`run-history/${tool}`, input, alice);
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
  return result.data;
};

/** Each event fills a segment. */
async function append(runtime: Runtime, texts: readonly string[]): Promise<void> {
  for (const [second, text] of texts.entries()) {
    const timestamp = `2026-01-01T00:00:0${second + 1}Z`;
    const event = { type: "planner_note", timestamp, data: JSON.stringify({ note: text + long }) };
    await host(runtime, "AppendRunEvents", { ...run, events: [event] });
  }
}

/** The first letters of each event's text, and the number of damaged lines. */
async function load(runtime: Runtime): Promise<{ texts: string[]; damaged: number }> {
  const texts: string[] = [];
  let damaged = 0;
  for (let cursor: string | undefined; ;) {
    const page = (await host(runtime, "LoadRun", { ...run, ...(cursor !== undefined && { cursor }) })) as {
      events: { data: string }[];
      more: boolean;
      meta: { cursor: string; damagedLines: number };
    };
    texts.push(...page.events.map(({ data }) => /"note":"([a-z]*?)x+"/.exec(data)?.[1] ?? "?"));
    damaged += page.meta.damagedLines;
    if (!page.more) return { texts, damaged };
    cursor = page.meta.cursor;
  }
}

/** Every file with its text, trash included. */
async function filesOf({ upkeep }: Runtime): Promise<Record<string, string>> {
  const { files } = await upkeep.export(alice);
  return Object.fromEntries(
    files.map(({ scope, path, content }) => [`${scope}/${path}`, String(Buffer.from(content))]),
  );
}

const live = parts.map((name) => `runs/agent/run/${name}`);

describe.each(["fileStore", "memoryStore"] as const)("%s", (kind) => {
  test.for(["agent/run", "agent/run/000002.20260101T000000000Z.jsonl"])(
    "a deleted run comes back in one commit, by its name or that of a file: %s",
    async (name) => {
      await withRuntime(kind, async ({ runtime, log }) => {
        await append(runtime, ["a", "b", "c"]);
        const before = await filesOf(runtime);
        expect(Object.keys(before)).toEqual(live);
        await host(runtime, "DeleteRun", run);
        const [entries, trash] = [await runtime.memoryEntries(alice), await runtime.upkeep.listTrash(alice)];
        expect([entries, trash.length]).toEqual([[], live.length]);
        const changes: MemoryChange[] = [];
        runtime.onChange((change) => changes.push(change));
        expect(await runtime.upkeep.restore({ ...alice, callId: "back" }, name)).toMatchObject({ scope: "runs" });
        expect(await filesOf(runtime)).toEqual(before);
        expect(await load(runtime)).toEqual({ texts: ["a", "b", "c"], damaged: 0 });
        expect(await runtime.memoryEntries(alice)).toMatchObject([{ family: "run-history", name: "agent/run" }]);
        expect(await runtime.upkeep.inspect(alice)).toEqual([]);
        const trashed = trash.map((file) => `runs/trash/${file.name}`);
        const told = changes.map(({ files }) => files.map(({ scope, path }) => `${scope}/${path}`).toSorted());
        expect(told).toEqual([[...live, ...trashed].toSorted()]);
        const [staged] = recordsOf(log, "staged", "back");
        expect(staged).toMatchObject({ tool: "RestoreRun", trashed: [] });
        expect(staged?.writes.map(placeOf).toSorted()).toEqual(live);
        expect(staged?.removed.map(placeOf).toSorted()).toEqual(trashed.toSorted());
        expect(recordsOf(log, "call", "back")).toMatchObject([{ changes: "committed", removed: staged?.removed }]);
      });
    },
  );

  test("a run that has been begun again is in the way; of two deletions, each comes back alone", async () => {
    await withRuntime(kind, async ({ runtime, at }) => {
      await append(runtime, ["a", "b", "c"]);
      await host(runtime, "DeleteRun", run);
      const [first] = await runtime.upkeep.listTrash(alice);
      at.epochMs += 1000;
      await append(runtime, ["d"]);
      const before = await filesOf(runtime);
      await expect(runtime.upkeep.restore(alice, "agent/run")).rejects.toMatchObject({ code: "NAME_CONFLICT" });
      expect(await filesOf(runtime)).toEqual(before);
      await host(runtime, "DeleteRun", run);
      await runtime.upkeep.restore(alice, "agent/run");
      expect(await filesOf(runtime)).toEqual(before);
      await host(runtime, "DeleteRun", run);
      await runtime.upkeep.restore(alice, first?.name ?? "");
      expect(await load(runtime)).toEqual({ texts: ["a", "b", "c"], damaged: 0 });
      expect(await runtime.upkeep.listTrash(alice)).toHaveLength(2);
    });
  });
});

interface StagedRecord {
  readonly kind: string;
  readonly callId: string;
  readonly writes: readonly Place[];
  readonly removed: readonly Place[];
}

interface Place {
  readonly scope: string;
  readonly path: string;
}

const placeOf = ({ scope, path }: Place): string => `${scope}/${path}`;

const recordsOf = (log: string, kind: string, callId: string): StagedRecord[] =>
  readFileSync(log, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as StagedRecord)
    .filter((record) => record.kind === kind && record.callId === callId);

test("if a segment has been purged, all other files come back, and the doctor reports it", async () => {
  await withRuntime("fileStore", async ({ runtime, dataDir }) => {
    await append(runtime, ["a", "b", "c"]);
    await host(runtime, "DeleteRun", run);
    rmSync(join(userFolder(dataDir, "alice"), "runs/trash/agent/run/000002.20260101T000000000Z.jsonl"));
    await runtime.upkeep.restore(alice, "agent/run");
    const left = live.filter((path) => !path.includes("000002"));
    expect(Object.keys(readUserFiles(dataDir, "alice"))).toEqual(left);
    expect((await load(runtime)).texts).toEqual(["a", "c"]);
    const missing = { problem: "file-unreadable", path: "runs/agent/run/000002.jsonl" };
    expect(await runtime.upkeep.inspect(alice)).toContainEqual(expect.objectContaining(missing));
  });
});

test.for(["agent/run/000002.jsonl/x", "Agent/Run/000002.JSONL"])(
  "a file in the place of one of them is a conflict, and nothing comes back: %s",
  async (path) => {
    await withRuntime("fileStore", async ({ runtime, dataDir }) => {
      const stamp = "20260101T000000000Z";
      const names = { [`run.${stamp}.json`]: "{}", [`000002.${stamp}.jsonl`]: "" };
      const trashed = Object.entries(names).map(([name, text]) => [`runs/trash/agent/run/${name}`, text]);
      const files = { ...(Object.fromEntries(trashed) as Record<string, string>), [`runs/${path}`]: "a person's" };
      writeUserFiles(dataDir, { alice: files });
      await expect(runtime.upkeep.restore(alice, "agent/run")).rejects.toMatchObject({ code: "NAME_CONFLICT" });
      expect(readUserFiles(dataDir, "alice")).toEqual(files);
    });
  },
);

test("a run can be deleted and restored when the user's scope is full", async () => {
  await withRuntime("fileStore", async ({ runtime, dataDir }) => {
    await append(runtime, ["a", "b", "c"]);
    const { scopeBytesMax, fileBytesMax } = storeLimits;
    const fillers = Array.from({ length: scopeBytesMax / fileBytesMax }, (_, at) => `runs/filler-${at}`);
    writeUserFiles(dataDir, { alice: Object.fromEntries(fillers.map((path) => [path, ""])) });
    for (const path of fillers) truncateSync(join(userFolder(dataDir, "alice"), path), fileBytesMax);
    // A new process knows nothing of the sizes.
    await using other = await createRuntime({ dataDir, plugins: ["run-history"], threadsMax: 1, clock: () => start });
    await expect(append(other, ["d"])).rejects.toThrow("QUOTA_EXCEEDED");
    await host(other, "DeleteRun", run);
    await other.upkeep.restore(alice, "agent/run");
    expect(await load(other)).toEqual({ texts: ["a", "b", "c"], damaged: 0 });
    await expect(append(other, ["d"])).rejects.toThrow("QUOTA_EXCEEDED");
  });
});
