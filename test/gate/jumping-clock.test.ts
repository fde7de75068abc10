/**
 * A clock that jumps ahead hides what ends by time, and removes nothing: put back, all is there again. Only a later
 * reading, in another process or an hour on, removes it.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { createRuntime, fileStore, memoryStore, postgresStore } from "memcell";
import type { CallContext, Runtime, StoreDefinition, ToolResult } from "memcell";
import { expect, test } from "vitest";

import { freshDatabase } from "../support/postgres/fresh-database.ts";
import { steppedUptime } from "../support/stepped-uptime.ts";
import type { SteppedUptime } from "../support/stepped-uptime.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { shippedNames } from "../support/test-plugin.ts";
import { trustingPolicy } from "../support/trusting-policy.ts";
import { userFolder } from "../support/user-files.ts";
import { waitingId } from "../support/waiting-id.ts";

const owner: CallContext = { userId: "alice" };
const web: CallContext = { userId: "alice", origin: { class: "tool_external", run: "web" } };
const inRun = (run: string): CallContext => ({ userId: "alice", origin: { class: "direct_user", run } });
const dayMs = 86_400_000;
const startMs = Date.UTC(2026, 5, 1);

const save = (runtime: Runtime, name: string, ctx: CallContext, body = "x"): Promise<ToolResult> =>
  runtime.call("UpdateUserMemory", { action: "upsert", name, type: "user", description: "d", body }, ctx);
const read = (runtime: Runtime, ctx: CallContext): Promise<ToolResult> =>
  runtime.call("ReadUserMemory", { name: "page" }, ctx);
const waits = async (result: Promise<ToolResult>): Promise<string> => waitingId(await result);
const idsOf = async (runtime: Runtime): Promise<string[]> => (await runtime.upkeep.pending(owner)).map(({ id }) => id);

interface Stage extends AsyncDisposable {
  readonly path: string;
  readonly runtime: Runtime;
  readonly uptime: SteppedUptime;
  nowMs: number;
}

const kinds = ["files", "memory", "a database"] as const;

/** A home with an entry from a web page. */
async function openStage(kind: (typeof kinds)[number]): Promise<Stage> {
  const folder = temporaryFolder();
  const store: StoreDefinition =
    kind === "files"
      ? fileStore({ dir: folder.path })
      : kind === "memory"
        ? memoryStore()
        : postgresStore({ url: await freshDatabase() });
  const stage = { path: folder.path, nowMs: startMs, uptime: steppedUptime() };
  const clock = (): number => stage.nowMs;
  {
    const plugins = shippedNames();
    const policy = trustingPolicy({ active: "untrusted_document" });
    await using lax = await createRuntime({ store, plugins, policy, clock });
    expect(await save(lax, "page", web)).toMatchObject({ ok: true });
  }
  const runtime = await createRuntime({ store, clock });
  return Object.assign(stage, {
    runtime,
    async [Symbol.asyncDispose]() {
      await runtime.close();
      stage.uptime[Symbol.dispose]();
      folder[Symbol.dispose]();
    },
  });
}

/** Another process, whose clock shows a time, makes a write wait, and a run that reads. */
async function inAnotherProcess(path: string, nowMs: number): Promise<void> {
  const script = fileURLToPath(new URL("../../dist/test/gate/clocked-process.js", import.meta.url));
  const child = fork(script, [path, String(nowMs)]);
  const [code] = await once(child, "exit");
  expect(code).toBe(0);
}

test.for(kinds)("a write that waits is hidden, and comes back: %s", async (kind) => {
  await using stage = await openStage(kind);
  const { runtime } = stage;
  const first = await waits(save(runtime, "a", web));
  for (const jumpDays of [40, 41]) {
    stage.nowMs = startMs + jumpDays * dayMs;
    expect(await idsOf(runtime)).not.toContain(first);
    await expect(runtime.upkeep.approve(owner, first)).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
    await waits(save(runtime, `b-${jumpDays}`, web));
    await waits(save(runtime, `c-${jumpDays}`, web));
    stage.nowMs = startMs;
    expect(await idsOf(runtime)).toContain(first);
    // A reading that has proved wrong is of no use for a later one.
    await waits(save(runtime, `d-${jumpDays}`, web));
    stage.uptime.step(2 * 3_600_000);
  }
  stage.nowMs = startMs - 400 * dayMs;
  await waits(save(runtime, "e", web));
  stage.nowMs = startMs;
  expect(await runtime.upkeep.approve(owner, first)).toMatchObject({ applied: true });
});

test("a write whose approval a killed process had begun comes back as well", async () => {
  await using stage = await openStage("files");
  const { runtime } = stage;
  const id = await waits(save(runtime, "a", web));
  const begun = [{ id, how: "approved", atMs: startMs, by: null }];
  writeFileSync(join(userFolder(stage.path, "alice"), ".memcell", "pending", "decided.json"), JSON.stringify(begun));
  stage.nowMs = startMs + 40 * dayMs;
  expect(await idsOf(runtime)).toEqual([]);
  stage.nowMs = startMs;
  expect(await idsOf(runtime)).toEqual([id]);
});

test.for(kinds)("a write that has waited too long is removed when an hour on agrees: %s", async (kind) => {
  await using stage = await openStage(kind);
  const { runtime } = stage;
  const first = await waits(save(runtime, "a", web));
  stage.nowMs = startMs + 40 * dayMs;
  await waits(save(runtime, "b", web));
  stage.uptime.step(3_600_000);
  await waits(save(runtime, "c", web));
  stage.nowMs = startMs;
  expect(await idsOf(runtime)).not.toContain(first);
});

test("a write that has waited too long is removed when another process agrees", async () => {
  await using stage = await openStage("files");
  const { runtime } = stage;
  const first = await waits(save(runtime, "a", web));
  stage.nowMs = startMs + 40 * dayMs;
  await waits(save(runtime, "b", web));
  await inAnotherProcess(stage.path, startMs + 2 * dayMs);
  stage.nowMs = startMs;
  expect(await idsOf(runtime)).toContain(first);
  stage.nowMs = startMs + 40 * dayMs;
  await waits(save(runtime, "c", web));
  await inAnotherProcess(stage.path, startMs + 40 * dayMs);
  stage.nowMs = startMs;
  expect(await idsOf(runtime)).not.toContain(first);
});

test.for(kinds)("what a run has read counts again when the clock is put back: %s", async (kind) => {
  await using stage = await openStage(kind);
  const { runtime } = stage;
  await read(runtime, inRun("r"));
  for (const jumpDays of [100, 101]) {
    stage.nowMs = startMs + jumpDays * dayMs;
    expect(await save(runtime, `a-${jumpDays}`, inRun("r"))).toMatchObject({ ok: true });
    await read(runtime, inRun(`other-${jumpDays}`));
    stage.nowMs = startMs;
    await waits(save(runtime, `b-${jumpDays}`, inRun("r")));
    expect(await runtime.upkeep.inspect(owner)).toEqual([]);
  }
});

test.for(kinds)("former contents stay until two days' looks agree: %s", async (kind) => {
  await using stage = await openStage(kind);
  const { runtime } = stage;
  await save(runtime, "a", owner, "former");
  await save(runtime, "a", owner, "present");
  const [last] = await runtime.upkeep.history(owner, { path: "a.md" });
  const diff = (): Promise<unknown> => runtime.upkeep.diff(owner, "a", { from: "before", to: last?.seq });
  const look = async (nowMs: number): Promise<void> => {
    stage.nowMs = nowMs;
    stage.uptime.step(3_600_000);
    await save(runtime, "b", owner, `${nowMs}`);
    if (kind === "files") await inAnotherProcess(stage.path, nowMs);
  };
  await look(startMs + 1_000);
  for (const jumpDays of [100, 102]) {
    stage.nowMs = startMs + jumpDays * dayMs;
    await save(runtime, "b", owner, `${jumpDays}`);
    await diff();
    stage.nowMs = startMs + 2_000;
    await save(runtime, "c", owner, `${jumpDays}`);
    await diff();
  }
  await look(startMs + 100 * dayMs);
  await look(startMs + 102 * dayMs);
  await expect(diff()).rejects.toMatchObject({ code: "ENTRY_NOT_FOUND" });
});
